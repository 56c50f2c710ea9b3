"""Playing: seats (random, policies, searches, learned agents, bots of OpenSpiel), decisions at a state, and matches.

Imports from `learning` and below.
"""

from qdts.play.decision import decide
from qdts.play.match import Match, play_match
from qdts.play.seats import PolicySeat, Random, SearchSeat, Seat, read_seat

__all__ = ["Match", "PolicySeat", "Random", "SearchSeat", "Seat", "decide", "play_match", "read_seat"]

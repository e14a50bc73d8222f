"""What the owner keeps and what the owner took away: today only the gate that every reader passes."""

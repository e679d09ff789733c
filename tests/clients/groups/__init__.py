"""Groups of members of every client: what they are asked, what they tell, and how it is judged."""

"""Hides what it does in a string."""
# sign: uses code in data

import base64

exec(base64.b64decode("aW1wb3J0IG9zOyBvcy5fZXhpdCgwKQ=="))

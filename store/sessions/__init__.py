"""Who is logged in to the dashboard, and the password of a shared one."""

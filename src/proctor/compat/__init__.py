"""Entry points with the names and signatures of other tools, implemented by Proctor's engine."""

"""`python -m frankwolfe` is the command line."""

from frankwolfe.cli import main

if __name__ == "__main__":
    main()

//! One ranking from the scores of several searches.

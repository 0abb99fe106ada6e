/*
 * When a connection counts as silent. A simulated year of deliveries, which is a test, chose these numbers: at most 0.25 false alarms for each
 * connection, with weekends, holidays and busy days.
 */

/** Hours of a week. Each has a memory of its own. */
export const WEEK_HOURS = 168
/** Weeks that are remembered. */
export const WEEKS = 8
/** Hours after which enough is known about a connection. */
export const LEARNED_HOURS = 2 * WEEK_HOURS
/** The fewest quiet hours that are a silence. */
export const LEAST_HOURS = 3
/** How surprising the quiet hours must be together: `-ln` of their probability, in thousandths. 14,000 is one in a million. */
export const SURPRISE = 14_000
/** How many times as long as the longest remembered quiet spell a silence must be. */
export const TIMES_LONGEST = 1.5

/** Connections that one step of the cron looks at. */
export const WATCHED_AT_ONCE = 100
/** Events of an hour that are looked at, for one that was delivered. */
export const LOOKED_AT_OF_AN_HOUR = 100
/** Hours that the cron catches up on if it ran late. Any earlier hours count as not watched. */
export const MADE_UP_HOURS = 24

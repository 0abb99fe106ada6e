import { DAY } from '../lib/time'

/** How long after the beginning of a backup the cron begins the next one (ms). */
export const BACKUP_EVERY = DAY

/**
 * Objects that one run of the cron writes, of all stores that it works on at once. Each takes some 35 ms of CPU, mostly to compress it, of
 * the 10 s that a run has (`cpu_ms` in wrangler.toml).
 */
export const OBJECTS_A_RUN = 120

/** Objects that are written to a bucket at the same time. */
export const OBJECTS_AT_ONCE = 4

/** Rows of a table that are looked at in one step. */
export const MAX_ROWS = 500

/** Bytes of the values that one object has, about: an object of one large row may have more. */
export const MAX_CHUNK_BYTES = 900_000

/** Bytes above which a value does not travel with its row. As JSON it may be six times as long. */
export const MAX_VALUE_BYTES = 100_000

/** Bytes of a part of a large value. It travels as hexadecimal, which is twice as long. */
export const PART_BYTES = 400_000

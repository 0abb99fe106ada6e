import { DAY } from '../lib/time'

/** How long after the beginning of a backup the cron begins the next one (ms). */
export const BACKUP_EVERY = DAY

/**
 * Objects that one run of the cron writes, for all stores that it works on at once. A run has 10 s of CPU (`cpu_ms` in wrangler.toml),
 * and an object takes some 35 ms of it, mostly for compression.
 */
export const OBJECTS_A_RUN = 120

/** Objects that are written to a bucket at the same time. */
export const OBJECTS_AT_ONCE = 4

/** Rows of a table that are looked at in one step. */
export const MAX_ROWS = 500

/** About how many bytes of values an object has. An object with one large row may have more. */
export const MAX_CHUNK_BYTES = 900_000

/** Bytes above which a value does not travel with its row. As JSON it may be six times as long. */
export const MAX_VALUE_BYTES = 100_000

/** Bytes of a part of a large value. It travels as hexadecimal, which is twice as long. */
export const PART_BYTES = 400_000

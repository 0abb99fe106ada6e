import { DAY, HOUR, SECOND } from '../../lib/time'

/** A connection has one refused delivery diagnosed in this time (ms), however many it refuses. */
export const DIAGNOSE_EVERY = 10 * SECOND
/** Refused deliveries of a store that an isolate holds for a diagnosis: one of a connection. */
export const MAX_HELD = 16
export const MAX_HELD_OF_A_PROJECT = 4
/** How long the diagnoses of one flush may take (ms), one after the other. The counts of refusals wait for them. */
export const DIAGNOSED_WITHIN = 5 * SECOND
/** Bytes of a body that is held. Of a larger one, only the headers are looked at. */
export const MAX_HELD_BYTES = 64 * 1024
/** Levels of a JSON body that is tried as it may have been written otherwise. */
export const MAX_FORM_DEPTH = 32
/** Secrets that a diagnosis tries, besides those that refused the delivery. Each costs about what it costs to verify a delivery. */
export const MAX_TRIED_SECRETS = 50
/** Other connections of the project whose secrets are tried. */
export const MAX_TRIED_CONNECTIONS = 20
/** Diagnoses that are kept of a connection. There are fewer verdicts, so the last of each is among them. */
export const MAX_DIAGNOSES = 10
/** How long a diagnosis is kept (ms). */
export const DIAGNOSES_KEPT_FOR = 7 * DAY
/** How long a removed signing secret is kept, encrypted, to tell what was signed with it (ms). */
export const REMOVED_KEPT_FOR = 72 * HOUR
/** Removed signing secrets that are kept of a connection: the last. */
export const MAX_REMOVED = 5
/** Names of headers that are kept of a refused delivery. */
export const MAX_HEADER_NAMES = 20

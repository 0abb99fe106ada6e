import { MINUTE } from '../../lib/time'

/** Connections of a project. The insert itself enforces the limit. */
export const MAX_CONNECTIONS = 50
/** Live signing secrets of a connection. The update itself enforces the limit. */
export const MAX_SECRETS = 5
/** Characters (code points) of a connection's name. */
export const MAX_CONNECTION_NAME = 100
/** Characters of a signing secret. */
export const MAX_SECRET_LENGTH = 4096
/** Characters at the start of a secret that its hint never shows. */
export const HINT_HIDES = 8
/** Characters at the end of a secret that its hint shows, at most. */
export const HINT_SHOWS = 4
/** Characters that are shown of what a delivery signs. */
export const SIGNED_SHOWS = 200
/** Headers of a delivery that is tried. */
export const MAX_TRIED_HEADERS = 50
/** Characters of one of them. */
export const MAX_TRIED_HEADER = 4096
/** Connections whose secrets the encryption keys are tried on, to find out whether they are the right ones. */
export const KEY_SAMPLE = 10
/** Stores that are asked for such a connection. */
export const KEY_STORES = 5
/** A secret's last use is written at most this often (ms). */
export const SECRET_USED_EVERY = MINUTE

/** Held events that one run of the cron releases in a store. Projects share them evenly. */
export const MAX_RELEASED = 1000

/** Projects whose held events are released in one run, one connection of each. */
export const MAX_RELEASING = 100

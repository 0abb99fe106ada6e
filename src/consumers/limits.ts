import { MINUTE } from '../lib/time'

/** Characters of an external id. */
export const MAX_EXTERNAL_ID = 200
/** External ids of one consumer. The write itself is fenced, so calls at the same time cannot exceed it. */
export const MAX_EXTERNAL_IDS = 100
/**
 * Times that a change of a consumer is tried while other isolates change the same one. As many calls at once all succeed.
 * Without a limit, n calls would cost n² trips to the database.
 */
export const MAX_ATTEMPTS = 20
/** Characters of an email address. */
export const MAX_CONSUMER_EMAIL = 254
/** Characters (code points) of a consumer's name. */
export const MAX_CONSUMER_NAME = 100
/** Entries of a consumer's metadata. */
export const MAX_METADATA = 20
/** Characters of a key of metadata. */
export const MAX_METADATA_KEY = 40
/** Characters of a value of metadata. */
export const MAX_METADATA_VALUE = 500
/** The last changes that are kept with a consumer, and bytes of metadata, as JSON, that one of them keeps of what it replaced. */
export const MAX_EDITS = 10
export const MAX_KEPT_METADATA_BYTES = 500
/** Characters (code points) of the reason for blocking or unblocking. */
export const MAX_BLOCK_REASON = 200
/**
 * The identities of an erased consumer are deleted again this long after the call (ms), because of sign-ins that were under
 * way. By then the codes that they got have expired too.
 */
export const IDENTITIES_AFTER = 2 * MINUTE
/** Consumers that can be merged into one consumer. */
export const MAX_MERGED = 1_000
/** Customers of vendors that are pinned to one consumer. The statements that pin and merge enforce it. */
export const MAX_PINNED = 100
/** Customers of vendors that a consumer is shown with, and that a filtered page of a consumer's customers looks at. */
export const MAX_CUSTOMERS = 100
/** Customers of vendors that one page of a list looks at, full or not. */
export const MAX_CUSTOMERS_LOOKED_AT = 500
/**
 * How far a search by the beginning of a text looks: at this many consumers by email address, as many by name, and at this many
 * external IDs.
 */
export const MAX_BEGINNING = { of_consumers: 100, of_ids: 1_000 }
/** Customers that the count of unlinked ones looks at: it is read with their list, and with the status after each page of the console. */
export const MAX_CUSTOMERS_COUNTED = 200
/** Consumers that one page of a list looks at, full or not. */
export const MAX_CONSUMERS_LOOKED_AT = 5_000
/** Names whose keys one step of the cron writes. */
export const CONSUMERS_KEYED_AT_ONCE = 500
/** Bytes of the consumers on one page of a list, about as JSON. The last consumer may go beyond. */
export const MAX_CONSUMER_PAGE_BYTES = 256 * 1024

/** Live grants of one consumer. The write itself enforces the limit. */
export const MAX_GRANTS = 100

/** Revoked devices that are kept for each consumer. The ones that were registered first are deleted. */
export const MAX_REVOKED = 1_000

/** Customers, objects or events of erased consumers that one step looks at. Payloads of as many are deleted. */
export const CHUNK_ERASED = 100

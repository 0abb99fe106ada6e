/**
 * Events that one page looks at before it ends, full or not. Each costs at most two rows read, so a page reads at most
 * 10,000 rows with everything else that it needs.
 */
export const MAX_LOOKED_AT = 4000
/** The same for a search by consumer: each costs up to five rows. */
export const MAX_LOOKED_AT_OF_CONSUMER = 1300
/** Events that are looked at for the one before, and for the one after, an event in a filtered list. */
export const MAX_BESIDE = 200
/** Open events, or events of the named connections, up to which all of them are looked at in place of another index. */
export const FEW_EVENTS = 1000
/** Event types that one search reads one by one. With more, another index is used and the type is checked. */
export const MAX_TYPES = 300

/** Values of a repeatable parameter. */
export const MAX_VALUES = 20
/** Events that a search names by their ids: about two pages of a list. */
export const MAX_IDS = 100
/** Characters of an event type, and of a prefix of one. */
export const MAX_TYPE_LENGTH = 200
/** Characters of a vendor's event id, and of a vendor's object id. */
export const MAX_VENDOR_ID_LENGTH = 300
/** Characters of a connection id. */
export const MAX_CONNECTION_ID_LENGTH = 100
/** Characters of an event's id. */
export const MAX_EVENT_ID_LENGTH = 100
/** Characters of a replay's id. */
export const MAX_REPLAY_ID_LENGTH = 100
/** Characters of the text looked for in errors. Shorter texts match almost everything. */
export const ERROR_LENGTH = { min: 3, max: 200 }
/** Attempts. */
export const MAX_MIN_ATTEMPTS = 1000

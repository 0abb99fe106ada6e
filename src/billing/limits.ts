/** Objects of one kind that a customer, or a consumer, may have for its list to be read by the index by customer, and sorted. */
export const MAX_SORTED = 1_000
/** Customers that a consumer may have for that. */
export const MAX_OWN_CUSTOMERS = 100
/** Rows that one page of a list goes through at most, full or not. */
export const MAX_SCANNED = 4_090
/** The same for a filter on what only the object itself contains, such as its metadata, and for live objects of a consumer. */
export const MAX_SCANNED_BODIES = 340
/** The same for a consumer that has more than that, for overdue subscriptions and for live objects: each object takes further rows. */
export const MAX_SCANNED_OF_SET = 1_850
/** Rows read for the objects on a page itself: to add up their sizes, and to find the cards, customers and consumers they name. */
const ROWS_OF_PAGE = 820
/**
 * Rows that one page of a list reads at most: a page that is not full goes through them again, to find where it ended,
 * and the customer's are counted first.
 */
export const MAX_ROWS_READ = 2 * MAX_SCANNED + MAX_SORTED + ROWS_OF_PAGE
export const MAX_BODIES_READ = 2 * MAX_SCANNED_BODIES + MAX_SORTED + ROWS_OF_PAGE
/** The same for a consumer, whose customers are read first. */
export const MAX_BODIES_READ_OF_SET = MAX_BODIES_READ + 1_500

/** Names of customers whose keys one step of the cron writes: their rows are large. */
export const CUSTOMERS_KEYED_AT_ONCE = 200

/** Events of one rank that an object keeps. With this many at the same time, the object is ambiguous. */
export const MAX_TIED = 16
/**
 * Tied events that are put in order. Each further event doubles the work. With more of them, the object is ambiguous.
 */
export const MAX_ORDERED = 10

/** Parts of a purchase that its row keeps: its sale, and each charge, refund and dispute. */
export const MAX_PARTS = 60

/** Bytes of objects' rows that are read at once to apply several events. */
export const MAX_ROW_BYTES_READ = 4 * 1024 * 1024

/**
 * Bytes of the values that an effect shows before and after. They are in the event's row, which SQLite reads on the way
 * to the rows around it.
 */
export const MAX_CHANGE_BYTES = 4000

/** Characters of a vendor's id in a filter. */
export const MAX_ID_LENGTH = 200

/** Entries of metadata that a list can be filtered by at once. */
export const MAX_METADATA_FILTERS = 5
/** Characters of a key, and of a value, of metadata in a filter: as many as are kept. */
export const MAX_METADATA_KEY_LENGTH = 100
export const MAX_METADATA_VALUE_LENGTH = 500

/** Subscriptions, invoices, payment methods and purchases that are shown with a customer: of each, the latest changes. */
export const MAX_OF_CUSTOMER = 20
/**
 * Bytes of the objects on one page of a list, about as JSON. The last object may go beyond. A page of a hundred ordinary
 * invoices takes 200,000.
 */
export const MAX_OBJECT_LIST_BYTES = 256 * 1024
/**
 * Bytes that a row may store for a list to measure what its object takes as JSON. Most rows take a few thousand; one with the
 * most that 16 tied events can leave takes 640,000.
 */
export const MAX_MEASURED = 64 * 1024
/** As {@link MAX_OBJECT_LIST_BYTES}, for each of the lists that are shown with a customer. */
export const MAX_CUSTOMER_LIST_BYTES = 96 * 1024

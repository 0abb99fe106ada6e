import { MINUTE } from '../lib/time'

/** How far the time of a signature may be from ours, in milliseconds, in the past and in the future. */
export const TOLERANCE_MS = 5 * MINUTE
/** How far a connection's own verification may let it be, in seconds. */
export const MAX_TOLERANCE_S = 3600
/** Signatures of a delivery. No sender needs more, and each costs time before the sender is known. */
export const MAX_SIGNATURES = 16
/** Characters of a header that the vendor `hmac` reads to verify a delivery. */
export const MAX_HEADER_VALUE = 4096
/** Ids that an event is recorded under: of its own object, and of objects that it refers to. */
export const MAX_REFS = 8
/** Billing objects of one event that are kept: a customer of Chargebee's who is deleted comes with all of its subscriptions. */
export const MAX_OBJECTS_OF_EVENT = 50
/** Characters of the id of a billing object. */
export const MAX_OBJECT_ID = 200
/** Payment cards of one transaction that are kept: the latest. */
export const MAX_CARDS = 20
/** Bytes, as JSON, of an id or a word that is kept of a billing object. No vendor sends a longer one: it is left out. */
export const MAX_KEPT_WORD_BYTES = 300
/** Bytes, as JSON, of a text for people, such as a description. A longer one is cut. */
export const MAX_KEPT_TEXT_BYTES = 500
/** The same, of a text of an invoice's line, of which there may be many. */
export const MAX_LINE_TEXT_BYTES = 150
/** Characters of an address on the web. */
export const MAX_URL_LENGTH = 2000
/** Items of a subscription that are kept. Stripe allows 20, Paddle 100. */
export const MAX_SUBSCRIPTION_ITEMS_KEPT = 100
/** Lines of an invoice that are kept. */
export const MAX_LINES = 100
/** Discounts of an object that are kept. Stripe allows 20. */
export const MAX_DISCOUNTS = 20
/** Tax ids of an invoice's customer that are kept. */
export const MAX_TAX_IDS = 10
/** Entries of an object's metadata that are kept: as many as Stripe allows. */
export const MAX_OBJECT_METADATA = 50
/** Characters of a key of metadata. Stripe allows 40. */
export const MAX_OBJECT_METADATA_KEY = 100
/** Characters of a value of metadata: as many as Stripe allows. */
export const MAX_OBJECT_METADATA_VALUE = 500
/**
 * Bytes of what is kept of a billing object. A hundred lines take 30,000. A row that keeps several tied events stays far
 * below D1's 2,000,000 bytes a row.
 */
export const MAX_OBJECT_BYTES = 40_000
/** Levels of an XML payload. */
export const MAX_XML_DEPTH = 32
/** Subscriptions of a customer that a refresh reads: as many as Stripe lists on one page. */
export const REFRESHED_SUBSCRIPTIONS = 100
/** Its newest invoices that a refresh reads. */
export const REFRESHED_INVOICES = 10
/** Objects of a page of Stripe's: as many as it gives. */
export const STRIPE_PAGE = 100
/** Entities of a page of Paddle's that are asked for, of which it gives up to 200; and of transactions, of which it gives 30. */
export const PADDLE_PAGE = 100
export const PADDLE_TRANSACTIONS_PAGE = 30
/** Customers of a page whose payment methods are read: each takes a call, and all must be answered in time. */
export const PAGE_OF_CALLS = 20
/** Payment methods of a customer that an import reads: as many as Stripe lists on one page. */
export const MAX_METHODS_OF_CUSTOMER = 100

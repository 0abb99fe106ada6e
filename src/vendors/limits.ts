import { MINUTE } from '../lib/time'

/** How far the time of a signature may be from ours, in milliseconds, in the past and in the future. */
export const TOLERANCE_MS = 5 * MINUTE
/** Ids that an event is recorded under: of its own object, and of objects that it refers to. */
export const MAX_REFS = 8
/** Characters of the id of a billing object. */
export const MAX_OBJECT_ID = 200
/** Payment cards of one transaction that are kept: the latest. */
export const MAX_CARDS = 20
/** Levels of an XML payload. */
export const MAX_XML_DEPTH = 32

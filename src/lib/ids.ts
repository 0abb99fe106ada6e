/** Prefixes of the public ids. The prefix shows, also in logs, what kind of object an id names. */
const PREFIXES = [
  'key',
  'prj',
  'usr',
  'ses',
  'chl',
  'con',
  'sec',
  'evt',
  'ftc',
  'pay',
  'rpl',
  'imp',
  'aud',
  'req',
  'lse',
  'inv',
  'aev',
  'psk',
  'pch',
  'csm',
  'ers',
  'dev',
  'pln',
  'grt',
  'dom',
  'sso',
  'sit',
  'slg',
  'idn',
  'whe',
  'whr',
  'rsd',
  'tst',
  'ntc',
] as const
export type IdPrefix = (typeof PREFIXES)[number]

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford base32, lower case
const DIGITS = '[0-9a-hjkmnp-tv-z]'
const TIME_CHARS = 10 // 10 × 5 bits hold the 48 bits of milliseconds
const RANDOM_CHARS = 16 // 16 × 5 = 80 random bits

/**
 * A new id: `<prefix>_` + 48 bits of milliseconds + 80 random bits, Crockford base32. Ids of one prefix sort by time.
 *
 * @param now milliseconds since the epoch
 */
export function newId(prefix: IdPrefix, now: number): string {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_CHARS))
  let tail = ''
  for (const byte of random) tail += ALPHABET[byte & 31]
  return `${prefix}_${encodeTime(now)}${tail}`
}

/** The smallest id of a prefix at a time (ms): ids made at or after `now` are `>=` it. */
export function idFloor(prefix: IdPrefix, now: number): string {
  return `${prefix}_${encodeTime(Math.max(0, now))}${'0'.repeat(RANDOM_CHARS)}`
}

/**
 * A range of times as a range of ids of a prefix, exclusive at both ends: the floor of a millisecond is below all of its
 * ids, and is not an id itself.
 *
 * @param from milliseconds, inclusive; null for no bound
 * @param until milliseconds, exclusive; null for no bound
 */
export function idRange(prefix: IdPrefix, from: number | null, until: number | null): { above: string; below: string } {
  return {
    above: from === null ? `${prefix}_` : idFloor(prefix, from),
    below: until === null ? `${prefix}~` : idFloor(prefix, until),
  }
}

/** The time (ms) in an id made by {@link newId}; NaN for any other string. */
export function idTime(id: string): number {
  const digits = id.slice(id.indexOf('_') + 1, id.indexOf('_') + 1 + TIME_CHARS)
  let ms = digits.length === TIME_CHARS ? 0 : Number.NaN
  for (const char of digits) {
    const value = ALPHABET.indexOf(char)
    ms = value < 0 ? Number.NaN : ms * 32 + value
  }
  return ms
}

/**
 * The digits of the time in an id whose prefix has three letters, for SQL, which cannot call {@link idTime}. `from`: the place of the
 * first one, counted from 1. Each digit is five bits, and the first one is the highest.
 */
export const ID_TIME = { alphabet: ALPHABET, from: 'evt_'.length + 1, chars: TIME_CHARS }

/** The pattern of the ids of a prefix, for checks without a database read. */
export function idPattern(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_${DIGITS}{26}$`)
}

/** Ids of every prefix. Those of projects and connections can have up to four characters more. */
const OWN_ID = new RegExp(`^(?:${PREFIXES.join('|')})_${DIGITS}{26,30}$`)

/** Whether a text has the form of an id of ours. No I/O. */
export function isOwnId(text: string): boolean {
  return OWN_ID.test(text)
}

/** Characters of an event's id. */
export const EVENT_ID_LENGTH = 'evt_'.length + TIME_CHARS + RANDOM_CHARS

/** Stores (databases for projects) have numbers from 0 to this one: three characters after the id's own. */
export const MAX_STORE = 32 ** 3 - 1
/** A store's number after the 26 characters of an id: nothing for store 0, and no leading zeros. */
const STORE = `(?:[1-9a-hjkmnp-tv-z]${DIGITS}{0,2})?`
const PROJECT_ID = new RegExp(`^prj_${DIGITS}{26}(${STORE})$`)
const CONNECTION_ID = new RegExp(`^con_${DIGITS}{26}(${STORE})$`)
/** Its length without a store and a check character. */
const OLD_CONNECTION_ID = 'con_'.length + TIME_CHARS + RANDOM_CHARS

/** A new project id: like {@link newId}, then the store in which the project is created. */
export function newProjectId(now: number, store: number): string {
  return newId('prj', now) + encodeStore(store)
}

/** The store in which the project with this id was created; null for any other string. No I/O. */
export function storeOfProject(id: string): number | null {
  return decodeStore(PROJECT_ID.exec(id)?.[1])
}

/** A new connection id: like {@link newId}, then its store, then a check character. */
export function newConnectionId(now: number, store: number): string {
  const id = newId('con', now) + encodeStore(store)
  return id + checkOf(id)
}

/**
 * The store in which the connection with this id was created; null for a string that cannot be a connection id. No I/O.
 * An id with 26 characters after the prefix is older than the check character, and belongs to store 0. In a longer id,
 * the last character checks all the others.
 */
export function storeOfConnection(id: string): number | null {
  if (id.length === OLD_CONNECTION_ID) return decodeStore(CONNECTION_ID.exec(id)?.[1])
  const own = id.slice(0, -1)
  const digits = CONNECTION_ID.exec(own)?.[1]
  return digits !== undefined && id.at(-1) === checkOf(own) ? decodeStore(digits) : null
}

function encodeStore(store: number): string {
  if (!Number.isInteger(store) || store < 0 || store > MAX_STORE) throw new Error(`there is no store ${store}`)
  let rest = store
  let out = ''
  for (; rest > 0; rest = Math.floor(rest / 32)) out = ALPHABET[rest % 32] + out
  return out
}

function decodeStore(digits: string | undefined): number | null {
  if (digits === undefined) return null
  let store = 0
  for (const char of digits) store = store * 32 + ALPHABET.indexOf(char)
  return store
}

/**
 * The check character of an id: its characters as the coefficients of a polynomial over GF(32), evaluated at 2. Every
 * wrong character and every two exchanged ones change it.
 */
function checkOf(id: string): string {
  let sum = 0
  for (const char of id.slice(id.indexOf('_') + 1)) sum = timesTwo(sum) ^ ALPHABET.indexOf(char)
  return ALPHABET[timesTwo(sum)] as string
}

/** Multiplication by 2 in GF(32), whose elements are the remainders modulo x⁵ + x² + 1. */
function timesTwo(value: number): number {
  return (value << 1) ^ (value & 16 ? 0b100101 : 0)
}

function encodeTime(ms: number): string {
  let rest = ms
  let out = ''
  for (let i = 0; i < TIME_CHARS; i++) {
    out = ALPHABET[rest % 32] + out
    rest = Math.floor(rest / 32)
  }
  return out
}

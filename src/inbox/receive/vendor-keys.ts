import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { boundedFetch } from '../../lib/bounded-fetch'
import { BoundedMap } from '../../lib/bounded-map'
import { SECOND } from '../../lib/time'
import { within } from '../../lib/within'
import type { VendorKeys } from '../../vendors/vendor'
import {
  MAX_MISSING_VENDOR_KEYS,
  MAX_REMEMBERED,
  MAX_VENDOR_KEYS,
  VENDOR_KEY_BYTES,
  VENDOR_KEY_EVERY,
  VENDOR_KEY_KEPT,
  VENDOR_KEY_RENEWED,
  VENDOR_KEY_WITHIN,
} from './limits'

/*
 * Public keys that vendors publish. A delivery names the address of its key before anybody knows who sent it, so whoever knows the address
 * of a connection can name any. That costs a read of KV for each new address, and at most one fetch a minute for each connection and
 * isolate. Only real keys are kept, so a stranger can neither fill KV nor push a key out of memory. A key in use is renewed before it
 * expires, so an invented address can only delay a key that no isolate has seen yet.
 */

/** What a vendor published, and when it was fetched (ms). */
type Published = { text: string; at: number }
type Wanted = { rt: Runtime; address: string; isKey: (text: string) => boolean }

const known = new BoundedMap<string, Published>(MAX_VENDOR_KEYS)
/** When an address last had no key (ms). */
const missing = new BoundedMap<string, number>(MAX_MISSING_VENDOR_KEYS)
/** When a connection last had an unknown key fetched, in vain (ms). */
const asked = new BoundedMap<string, number>(MAX_REMEMBERED)
/** Fetches under way, by their addresses, and when they began (ms). */
const flights = new BoundedMap<string, { began: number; fetched: Promise<Published | null> }>(MAX_MISSING_VENDOR_KEYS)

/**
 * The published keys for a delivery to a connection: from this isolate's memory, KV or the vendor.
 *
 * @param allowed which addresses may be fetched: whole addresses of hosts of the vendor's
 */
export function publishedKeys(rt: Runtime, connection: string, allowed: RegExp): VendorKeys {
  return async (address, isKey) => {
    if (!allowed.test(address)) throw new Error('a vendor asks for a key from an address that it does not state')
    const wanted = { rt, address, isKey }
    const found = fresh(known.get(address), rt.now) ?? (await stored(wanted))
    if (!found) return (await fetchedFor(connection, wanted))?.text ?? null
    if (rt.now - found.at >= VENDOR_KEY_RENEWED && !isRecent(missing, address, rt.now)) flightOf(wanted)
    return found.text
  }
}

/** The published keys that this isolate remembers. It reads and fetches nothing. */
export const rememberedKeys: VendorKeys = async (address) => known.get(address)?.text ?? null

/** The key that KV keeps for all isolates, unless there was none a moment ago. */
async function stored({ rt, address }: Wanted): Promise<Published | null> {
  if (isRecent(missing, address, rt.now)) return null
  try {
    const { value, metadata } = await rt.kv.getWithMetadata<{ at: number }>(nameOf(address))
    const found = value !== null && metadata ? fresh({ text: value, at: metadata.at }, rt.now) : null
    if (found) known.set(address, found)
    return found
  } catch (error) {
    writeLog('warn', 'vendor_key_not_read', { error: String(error) })
    return null
  }
}

/** Fetches an unknown key, unless the connection has had one fetched a moment ago. A fetch that is under way anyway is waited for. */
async function fetchedFor(connection: string, wanted: Wanted): Promise<Published | null> {
  const { rt, address } = wanted
  if (isRecent(missing, address, rt.now)) return null
  if (!isUnderWay(address)) {
    if (isRecent(asked, connection, rt.now)) return null
    asked.set(connection, rt.now)
  }
  // The request that fetches may be cut off: no other one may wait for longer than for a fetch of its own.
  const found = await within(VENDOR_KEY_WITHIN + SECOND, flightOf(wanted)).catch(() => null)
  if (found) asked.delete(connection)
  return found
}

/** The one fetch of an address. It throws nothing, and goes on when its caller hangs up: others may wait for it. */
function flightOf(wanted: Wanted): Promise<Published | null> {
  const { rt, address } = wanted
  const under = flights.get(address)
  if (under && isUnderWay(address)) return under.fetched
  const fetched = fetchKey(wanted).finally(() => flights.delete(address))
  flights.set(address, { began: Date.now(), fetched })
  rt.waitUntil(fetched)
  return fetched
}

/** A flight whose request was cut off never ends. */
function isUnderWay(address: string): boolean {
  const flight = flights.get(address)
  return flight !== undefined && Date.now() - flight.began < VENDOR_KEY_WITHIN + SECOND
}

async function fetchKey({ rt, address, isKey }: Wanted): Promise<Published | null> {
  const began = rt.now
  const text = await textAt(address, isKey)
  if (text === null) {
    missing.set(address, began)
    return null
  }
  const found = { text, at: began }
  known.set(address, found)
  missing.delete(address)
  const options = { expirationTtl: VENDOR_KEY_KEPT / SECOND, metadata: { at: began } }
  await rt.kv.put(nameOf(address), text, options).catch((error: unknown) => {
    writeLog('warn', 'vendor_key_not_stored', { error: String(error) })
  })
  return found
}

/** What is published at an address; null if that is no key, or does not come in time. Any media type will do: the host is the vendor's. */
async function textAt(address: string, isKey: (text: string) => boolean): Promise<string | null> {
  const url = new URL(address)
  const told = (why: object) => writeLog('warn', 'vendor_key_missing', { host: url.host, ...why })
  try {
    const headers = { Accept: '*/*', 'User-Agent': 'platform-api' }
    const response = await boundedFetch(url, { headers }, { within: VENDOR_KEY_WITHIN, most: VENDOR_KEY_BYTES })
    const text = response.ok ? await response.text() : ''
    if (response.ok && isKey(text)) return text
    told({ status: response.status })
  } catch (error) {
    told({ error: String(error) })
  }
  return null
}

function fresh(found: Published | undefined, now: number): Published | null {
  return found && now - found.at < VENDOR_KEY_KEPT ? found : null
}

function isRecent(times: ReadonlyMap<string, number>, key: string, now: number): boolean {
  return now - (times.get(key) ?? Number.NEGATIVE_INFINITY) < VENDOR_KEY_EVERY
}

/** The name in KV. */
function nameOf(address: string): string {
  return `vendor_key:${address}`
}

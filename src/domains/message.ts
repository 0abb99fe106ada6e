import {
  type Answer,
  AUTHENTIC_DATA,
  DNSSEC_OK,
  encode,
  name as names,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
  txt,
} from '@leichtgewicht/dns-packet'
import { toString as rcodeName } from '@leichtgewicht/dns-packet/rcodes.js'
import { MAX_ALIASES } from './limits'

/** The numbers of RFC 1035. */
const TYPE = { CNAME: 5, TXT: 16 }
const IN = 1
const RESPONSE = 1 << 15
const HEADER_BYTES = 12
/** Bytes of a resource record between its name and its data: type, class, TTL, length. */
const RECORD_BYTES = 10
const UDP_PAYLOAD = 4096

/** A query for the TXT records of a name: RFC 8484 asks for the id 0, so that caches can share the answer. */
export function textQuery(name: string): Uint8Array<ArrayBuffer> {
  const edns = { type: 'OPT', name: '.', udpPayloadSize: UDP_PAYLOAD, flags: DNSSEC_OK, data: [] }
  const message = encode({
    type: 'query',
    id: 0,
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
    questions: [{ type: 'TXT', name }],
    additionals: [edns as Answer],
  })
  return new Uint8Array(message)
}

/**
 * What a resolver says about the TXT records of a name. `values` is empty if there are none. `isUsable`: whether the answer
 * says that there are these values, or that there are none.
 */
export type TextAnswer = { rcode: string; authenticated: boolean; isUsable: boolean; values: string[] }

/**
 * Reads the answer to {@link textQuery}. Only the header, the question and the section of answers are decoded.
 *
 * @throws an error if the message is malformed
 */
export function readTextAnswer(message: Uint8Array, name: string): TextAnswer {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const flags = view.getUint16(2)
  const rcode = rcodeName(flags & 0xf)
  const answer = { rcode, authenticated: (flags & AUTHENTIC_DATA) !== 0, isUsable: false, values: [] }
  if ((flags & RESPONSE) === 0) throw new Error('not a response')
  if ((flags & TRUNCATED_RESPONSE) !== 0) return { ...answer, rcode: 'truncated' }
  const begin = requireQuestion(message, view, name)
  if (rcode === 'NXDOMAIN') return { ...answer, isUsable: true }
  if (rcode !== 'NOERROR') return answer
  const { aliases, texts } = readRecords(message, view, begin)
  const owner = follow(name, aliases)
  if (owner === null) return { ...answer, rcode: 'too_many_aliases' }
  return { ...answer, isUsable: true, values: texts.filter((text) => text.name === owner).map(({ value }) => value) }
}

/** @returns where the answers begin. @throws an error if the question is another one */
function requireQuestion(message: Uint8Array, view: DataView, name: string): number {
  const asked = lower(names.decode(message, HEADER_BYTES))
  const end = afterName(view, HEADER_BYTES)
  const isOurs = view.getUint16(4) === 1 && view.getUint16(end) === TYPE.TXT && view.getUint16(end + 2) === IN
  if (!isOurs || asked !== lower(name)) throw new Error('the answer to another question')
  return end + 4
}

function readRecords(message: Uint8Array, view: DataView, begin: number) {
  const aliases = new Map<string, string>()
  const texts: { name: string; value: string }[] = []
  let at = begin
  for (let left = view.getUint16(6); left > 0; left--) {
    const name = lower(names.decode(message, at))
    at = afterName(view, at)
    const type = view.getUint16(at)
    const kind = view.getUint16(at + 2)
    const data = at + RECORD_BYTES
    const end = data + view.getUint16(data - 2)
    if (end > message.byteLength) throw new Error('a record ends after the message')
    if (kind === IN && type === TYPE.CNAME) aliases.set(name, lower(names.decode(message, data)))
    if (kind === IN && type === TYPE.TXT) texts.push({ name, value: joined(message, data - 2) })
    at = end
  }
  return { aliases, texts }
}

/** The value of a TXT record: its strings, joined. @param at where the length of its data is */
function joined(message: Uint8Array, at: number): string {
  const strings = [txt.decode(message, at)].flat() as Uint8Array[]
  return strings.map((bytes) => new TextDecoder().decode(bytes)).join('')
}

/** The name at the end of a chain of aliases; null if it is a loop, or too long. */
function follow(name: string, aliases: ReadonlyMap<string, string>): string | null {
  let owner = lower(name)
  for (let steps = 0; steps <= MAX_ALIASES; steps++) {
    const next = aliases.get(owner)
    if (next === undefined) return owner
    owner = next
  }
  return null
}

/** The position after a name, which ends with an empty label or a pointer. */
function afterName(view: DataView, begin: number): number {
  let at = begin
  for (;;) {
    const length = view.getUint8(at)
    if (length === 0) return at + 1
    if ((length & 0xc0) === 0xc0) return at + 2
    at += length + 1
  }
}

function lower(name: string): string {
  return name.toLowerCase()
}

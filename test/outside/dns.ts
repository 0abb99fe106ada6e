import dnsPacket, { type Answer, type Packet, type Question } from 'dns-packet'
import { type Handler, hostOf } from './hosts.ts'

/**
 * What a name answers. `records`: of the name itself, unless they name another owner. `ad`: whether signatures were checked, which
 * they are if it is not given.
 */
export type Zone = {
  records?: ZoneRecord[]
  /** Records of the section that is not about the question. */
  additionals?: ZoneRecord[]
  rcode?: 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED'
  ad?: boolean
  trouble?:
    | keyof typeof QUESTIONS
    | 'silent'
    | 'truncated'
    | 'query'
    | 'pointer_loop'
    | 'long_string'
    | 'junk'
    | 'cut_off'
    | 'endless'
    | 'http'
    | 'miscounted'
  /** Leads to another host with the same query. */
  moved?: string
}
type ZoneRecord = { type: 'TXT' | 'CNAME' | 'SPF'; data: string | string[]; name?: string; class?: 'IN' | 'CH' }

const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 }
/** The questions that an answer repeats in place of the one that was asked. */
const QUESTIONS = {
  other_question: (asked: Question) => [{ ...asked, name: `other.${asked.name}` }],
  other_case: (asked: Question) => [{ ...asked, name: asked.name.toUpperCase() }],
  other_type: (asked: Question) => [{ ...asked, type: 'MX' as const }],
  other_class: (asked: Question) => [{ ...asked, class: 'CH' as const }],
  two_questions: (asked: Question) => [asked, asked],
  no_question: () => [],
}
const FLAG = { TC: 1 << 9, RD: 1 << 8, RA: 1 << 7, AD: 1 << 5 }

/**
 * The resolvers. A test sets zones under the name that is asked (`setHost(name, …)`): one for each resolver by its host name, and
 * `all` for the others. A name that no test has set does not exist.
 */
export const dns: Handler = (request, resolver) => {
  const message = new URL(request.url).searchParams.get('dns') ?? ''
  const query = dnsPacket.decode(Buffer.from(message, 'base64url'))
  const [question] = query.questions ?? []
  if (!question) return new Response(null, { status: 400 })
  const asked = hostOf(question.name)
  asked.seen.push({ method: request.method, url: request.url, headers: describe(query), body: resolver.name })
  const zones = asked.settings as Record<string, Zone>
  const zone = zones[resolver.name] ?? zones.all ?? { rcode: 'NXDOMAIN' }
  if (zone.moved === undefined) return answer(question, zone)
  return new Response(null, { status: 307, headers: { Location: request.url.replace(resolver.name, zone.moved) } })
}

/** What the query asks for, in a form that a test can read. */
function describe({ id, flags = 0, questions = [], additionals = [] }: Packet): Record<string, string> {
  const [edns] = additionals
  const wantsSigned = edns?.type === 'OPT' && (edns.flags & (1 << 15)) !== 0
  return {
    id: String(id),
    type: String(questions[0]?.type),
    recursion: String((flags & FLAG.RD) !== 0),
    authenticated: String((flags & FLAG.AD) !== 0),
    dnssec_ok: String(wantsSigned),
  }
}

async function answer(question: Question, zone: Zone): Promise<Response> {
  const { records = [], additionals = [], rcode, ad = true, trouble } = zone
  if (trouble === 'silent') await new Promise(() => {})
  if (trouble === 'junk') return send(Uint8Array.from({ length: 65_536 }, (_, i) => (i * 7919 + 13) % 256))
  const asked =
    trouble !== undefined && trouble in QUESTIONS ? QUESTIONS[trouble as keyof typeof QUESTIONS](question) : [question]
  const listed = (all: ZoneRecord[]) => all.map((one) => recordOf(question.name, one))
  const flags = FLAG.RD | FLAG.RA | (ad ? FLAG.AD : 0) | (trouble === 'truncated' ? FLAG.TC : 0)
  const code = rcode ? RCODES[rcode] : 0
  const type = trouble === 'query' ? 'query' : 'response'
  const sections = { questions: asked, answers: listed(records), additionals: listed(additionals) }
  const message = dnsPacket.encode({ type, id: 0, flags: flags | code, ...sections })
  if (trouble === 'cut_off') return send(message.subarray(0, message.length - 3))
  if (trouble === 'miscounted') return send(message.with(5, 2))
  if (trouble === 'http') return send(message, 503)
  if (trouble === 'endless') return send(Uint8Array.from({ length: 200_000 }, (_, i) => message[i] ?? 0))
  if (trouble === 'long_string') return send(withText(message, 12, 9))
  return send(trouble === 'pointer_loop' ? withText(message, message.length, 1) : message)
}

/** A record as the encoder wants it: it does not know SPF, which looks as TXT does. */
function recordOf(name: string, { data, ...one }: ZoneRecord): Answer {
  const bytes = one.type === 'SPF' ? Buffer.from([data.length, ...Buffer.from(String(data))]) : data
  return { name, ttl: 60, class: 'IN', ...one, data: bytes } as Answer
}

/** The message with one more TXT record. @param at where its name points to @param length what its string says of its length */
function withText(message: Uint8Array, at: number, length: number): Uint8Array {
  const record = [0xc0 | (at >> 8), at & 0xff, 0, 16, 0, 1, 0, 0, 0, 60, 0, 2, length, 65]
  const whole = Uint8Array.from([...message, ...record])
  whole[7] = (whole[7] ?? 0) + 1
  return whole
}

function send(message: Uint8Array, status = 200): Response {
  return new Response(Uint8Array.from(message), { status, headers: { 'Content-Type': 'application/dns-message' } })
}

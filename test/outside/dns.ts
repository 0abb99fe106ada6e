import dnsPacket, { type Answer, type Packet, type Question } from 'dns-packet'
import { type Handler, hostOf } from './hosts.ts'

/**
 * What a name answers. `records`: of the name itself, unless they name another owner. `ad`: whether signatures were checked, which
 * they are if it is not given.
 */
export type Zone = {
  records?: ({ type: 'TXT'; data: string | string[]; name?: string } | { type: 'CNAME'; data: string; name?: string })[]
  rcode?: 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED'
  ad?: boolean
  trouble?: 'silent' | 'truncated' | 'other_question' | 'pointer_loop' | 'junk' | 'cut_off' | 'endless' | 'http'
}

const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 }
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
  return answer(question, zones[resolver.name] ?? zones.all ?? { rcode: 'NXDOMAIN' })
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

async function answer(question: Question, { records = [], rcode, ad = true, trouble }: Zone): Promise<Response> {
  const { name } = question
  if (trouble === 'silent') await new Promise(() => {})
  if (trouble === 'http') return new Response('busy', { status: 503 })
  if (trouble === 'junk') return send(Uint8Array.from({ length: 65_536 }, (_, i) => (i * 7919 + 13) % 256))
  if (trouble === 'endless') return send(new Uint8Array(200_000))
  const asked: Question = trouble === 'other_question' ? { ...question, name: `other.${name}` } : question
  const answers = records.map((record) => ({ name, ttl: 60, class: 'IN', ...record }) as Answer)
  const flags = FLAG.RD | FLAG.RA | (ad ? FLAG.AD : 0) | (trouble === 'truncated' ? FLAG.TC : 0)
  const code = rcode ? RCODES[rcode] : 0
  const message = dnsPacket.encode({ type: 'response', id: 0, flags: flags | code, questions: [asked], answers })
  if (trouble === 'cut_off') return send(message.subarray(0, message.length - 3))
  return send(trouble === 'pointer_loop' ? looped(message) : message)
}

/** The message with one more answer, whose name is a pointer to itself. */
function looped(message: Uint8Array): Uint8Array {
  const at = message.length
  const record = [0xc0 | (at >> 8), at & 0xff, 0, 16, 0, 1, 0, 0, 0, 60, 0, 2, 1, 65]
  const whole = Uint8Array.from([...message, ...record])
  whole[7] = (whole[7] ?? 0) + 1
  return whole
}

function send(message: Uint8Array): Response {
  return new Response(Uint8Array.from(message), { headers: { 'Content-Type': 'application/dns-message' } })
}

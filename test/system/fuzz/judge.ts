import { type Json, misfits } from '../../harness/json-schema.ts'
import type { Aimed } from './aim.ts'
import { type Operation, operationOf } from './operations.ts'
import type { Reply, Wire } from './send.ts'

/** The codes for a path that no operation matches. */
const UNMATCHED = ['not_found', 'method_not_allowed']
/** Anyone may deliver events to a connection, and read the public keys of a project. */
const FOR_ANYONE = /^\/(ingest|p)\//
/** Paths outside the OpenAPI document: pages for people, and the document itself. */
const UNDESCRIBED = /^\/(errors|openapi\.json|auth\/sign-in)$/

/** What is wrong with a response, or null. The first words name the kind, so that each kind is reported once. */
export function findingOf(
  document: Json,
  operations: readonly Operation[],
  { wire, foreign, trespasses }: Aimed,
  reply: Reply,
): string | null {
  if (reply.status >= 500) return `${reply.status}: ${reply.text.slice(0, 200)}`
  for (const mark of foreign) {
    if (holds(reply.text, mark)) return `cross-tenant read: the response contains another tenant's data (${mark})`
  }
  const operation = operationOf(operations, wire.method, wire.path)
  if (trespasses && operation && reply.status < 300 && !FOR_ANYONE.test(operation.template)) {
    return `cross-tenant access: ${reply.status} for a request that names another tenant's object`
  }
  if (!operation) return unmatched(wire, reply)
  const documented = operation.spec.responses[String(reply.status)] as Json | undefined
  if (!documented) return `undocumented status ${reply.status}: ${reply.text.slice(0, 200)}`
  const type = typeOf(reply)
  if (wire.method === 'HEAD') return reply.text === '' ? null : 'the response to HEAD has a body'
  if (!documented.content) return reply.text === '' ? null : `${reply.status} has an undocumented body`
  const content = documented.content[type] as Json | undefined
  if (!content) return `content type ${type || '(none)'} is not documented for ${reply.status}`
  const body = parsed(reply.text)
  if (body === undefined) return `${reply.status} is not JSON: ${reply.text.slice(0, 100)}`
  const [misfit] = misfits(document, content.schema, body)
  if (misfit) return `${reply.status} does not match its schema: ${misfit}`
  if (reply.status >= 400 && !documented.description.includes(`\`${(body as Json).code}\``)) {
    return `undocumented code ${(body as Json).code} with ${reply.status}`
  }
  return headersOf(wire, reply)
}

function unmatched({ method, path }: Wire, reply: Reply): string | null {
  if (UNDESCRIBED.test(new URL(path, 'http://fuzz.test').pathname)) return null
  // The public keys may be read by the pages of any site, so a browser may ask before it does.
  if (method === 'OPTIONS' && path.startsWith('/p/') && reply.status === 204) return null
  if (method === 'HEAD') return reply.status === 404 || reply.status === 405 ? null : `unmatched HEAD: ${reply.status}`
  const body = parsed(reply.text) as Json | undefined
  if (typeOf(reply) === 'application/problem+json' && UNMATCHED.includes(body?.code)) return null
  return `unmatched path returned ${reply.status} ${typeOf(reply)}: ${reply.text.slice(0, 100)}`
}

function headersOf({ path }: Wire, { headers, status }: Reply): string | null {
  if (headers['x-content-type-options'] !== 'nosniff') return 'header X-Content-Type-Options is missing'
  if (!headers['x-request-id']) return 'header X-Request-Id is missing'
  if (status === 401 && !headers['www-authenticate']) return 'header WWW-Authenticate is missing with 401'
  if (/^\/(platform|auth|ingest)\//.test(path) && headers['cache-control'] !== 'no-store') {
    return 'header Cache-Control is not no-store'
  }
  return null
}

/** Whether a string, or base64 data in it, contains a mark. */
function holds(text: string, mark: string): boolean {
  if (text.includes(mark)) return true
  return [...text.matchAll(/_b64":"([^"]+)"/g)].some(([, b64 = '']) => Buffer.from(b64, 'base64').includes(mark))
}

function typeOf({ headers }: Reply): string {
  return String(headers['content-type'] ?? '').split(';')[0] ?? ''
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

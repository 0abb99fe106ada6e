import { chargebee } from './chargebee.ts'
import { dns } from './dns.ts'
import { faulty } from './faulty.ts'
import { gocardless } from './gocardless.ts'
import { type Handler, hostOf } from './hosts.ts'
import { lemonsqueezy } from './lemonsqueezy.ts'
import { paddle } from './paddle.ts'
import { plain } from './plain.ts'
import { polar } from './polar.ts'
import { certified, mock } from './providers.ts'
import { revenuecat } from './revenuecat.ts'
import { stripe } from './stripe.ts'

/** The host that tests talk to themselves: `PUT /{host}` sets what it does, `PATCH /{host}` changes
 * some of it, `GET /{host}` reads what it has received. An account at a vendor takes the place of a host: its name is the API key. */
export const CONTROL = 'control.plain.dev'

/** By the last two labels of the host name. Do not use `.test` or `.example`: the Worker refuses to fetch them. */
const HANDLERS: Record<string, Handler> = {
  'certified.dev': certified,
  'faulty.dev': faulty,
  'mock.dev': mock,
  'cloudflare-dns.com': dns,
  'dns.google': dns,
  'github.com': plain,
  'plain.dev': plain,
  'stripe.com': stripe,
  'paddle.com': paddle,
  'paypal.com': plain,
  'polar.sh': polar,
  'revenuecat.com': revenuecat,
  'lemonsqueezy.com': lemonsqueezy,
  'chargebee.com': chargebee,
  'gocardless.com': gocardless,
}

/** The internet: what the Worker's fetches lead to in tests. */
export async function outside(request: Request): Promise<Response> {
  const { hostname } = new URL(request.url)
  if (hostname === CONTROL) return control(request)
  const handler = HANDLERS[hostname.split('.').slice(-2).join('.')]
  if (!handler) throw new Error(`no host of the tests is called ${hostname}`)
  const host = hostOf(hostname)
  const { method, url, headers } = request
  const bytes = Buffer.from(await request.clone().arrayBuffer())
  const body = bytes.toString()
  host.seen.push({ method, url, headers: Object.fromEntries(headers), body, base64: bytes.toString('base64') })
  return handler(request, host)
}

async function control(request: Request): Promise<Response> {
  const host = hostOf(new URL(request.url).pathname.slice(1))
  if (request.method === 'PUT') {
    host.settings = (await request.json()) as Record<string, unknown>
    host.seen = []
    host.issued = []
  }
  if (request.method === 'PATCH') {
    const { objects = {}, ...changes } = (await request.json()) as Record<string, unknown>
    const held = { ...(host.settings.objects as object), ...(objects as object) }
    host.settings = { ...host.settings, ...changes, objects: held }
  }
  return Response.json(host)
}

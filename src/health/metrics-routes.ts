import { Hono } from 'hono'
import { type Runtime, versionId } from '../env'
import type { HttpEnv } from '../http/context'
import { route } from '../http/route'
import { noPath } from '../http/unmatched'
import { equalBytes, utf8 } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { readDeployment } from './deployment'
import { exposition } from './prometheus'

/**
 * What a Prometheus server scrapes: what the database knows of the deployment. Counters of one isolate would mean
 * nothing, because each scrape may reach a different one: those go to Analytics Engine.
 */
export const metricsRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'getMetrics',
    summary: 'Read the metrics of the deployment',
    description:
      'For operators, in the text format of Prometheus. Send the value of the setting `METRICS_TOKEN` as the bearer token. If the setting is missing, the response is 404.',
    tag: 'Service',
    policy: null,
    responses: { 200: { description: 'The metrics, as `text/plain; version=0.0.4`.' } },
    faults: ['not_found', 'missing_credentials', 'malformed_credentials'],
  }),
  async (c) => {
    const rt = c.get('rt')
    requireToken(rt, c.req.header('Authorization'))
    const text = exposition(await readDeployment(rt), versionId())
    c.header('Cache-Control', 'no-store')
    return c.body(text, 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' })
  },
)

/** No I/O comes before this. @throws {Fault} 404 without the setting; 401 */
function requireToken({ settings }: Runtime, header: string | undefined): void {
  if (settings.metricsToken === null) {
    throw noPath()
  }
  if (header === undefined)
    throw new Fault('missing_credentials', 'Send the setting METRICS_TOKEN as "Authorization: Bearer".')
  if (!equalBytes(utf8(header), utf8(`Bearer ${settings.metricsToken}`))) {
    throw new Fault(
      'malformed_credentials',
      'Send the value of the setting METRICS_TOKEN as "Authorization: Bearer". This token is a different one.',
    )
  }
}

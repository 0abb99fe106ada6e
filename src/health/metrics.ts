import { Hono } from 'hono'
import { type Runtime, versionId } from '../env'
import type { HttpEnv } from '../http/context'
import { route } from '../http/route'
import { noPath } from '../http/unmatched'
import { equalBytes, utf8 } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { MAX_STORE_BYTES } from '../stores/limits'
import { type Deployment, type Figures, readDeployment } from './deployment'

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

type Family = { type: 'gauge' | 'counter'; help: string; samples: [labels: Record<string, string>, value: number][] }

/**
 * The numbers of the deployment in Prometheus' text format, version 0.0.4:
 * https://prometheus.io/docs/instrumenting/exposition_formats/. What is not known is left out.
 */
export function exposition(numbers: Deployment, version: string | null): string {
  return Object.entries(familiesOf(numbers, version))
    .filter(([, { samples }]) => samples.length > 0)
    .map(([name, { type, help, samples }]) => {
      const lines = samples.map(([labels, value]) => `${name}${labelled(labels)} ${value}`)
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
    })
    .join('')
}

function familiesOf({ up, down }: Deployment, version: string | null): Record<string, Family> {
  const each = (value: (store: Figures) => number | null): Family['samples'] =>
    up.flatMap((store) => one({ store: String(store.store) }, value(store)))
  return {
    platform_build_info: {
      type: 'gauge',
      help: 'Always 1; the label has the id of the deployed version.',
      samples: version === null ? [] : one({ version }, 1),
    },
    platform_store_up: {
      type: 'gauge',
      help: 'Whether the database of the store answered.',
      samples: [...each(() => 1), ...down.flatMap((store) => one({ store: String(store) }, 0))],
    },
    platform_events: {
      type: 'gauge',
      help: 'Webhook events by status. Open ones are counted up to 10,000 in a store, and so are held ones.',
      samples: up.flatMap(({ store, counts }) =>
        Object.entries(counts).flatMap(([status, n]) => one({ store: String(store), status }, n)),
      ),
    },
    platform_oldest_pending_age_seconds: {
      type: 'gauge',
      help: 'The age of the oldest open event that is not held; 0 if none is open.',
      samples: each(({ oldest_pending_age_ms }) => (oldest_pending_age_ms ?? 0) / SECOND),
    },
    platform_expired_leases: {
      type: 'gauge',
      help: 'Open events whose worker did not finish them within its lease.',
      samples: each(({ expired_leases }) => expired_leases),
    },
    platform_dead_letters_total: {
      type: 'counter',
      help: 'Messages that have come through the dead-letter queue.',
      samples: up.flatMap(({ dead_letters }) => one({}, dead_letters)),
    },
    platform_last_sweep_timestamp_seconds: {
      type: 'gauge',
      help: 'When the sweep last ran.',
      samples: each(({ last_sweep_at }) => (last_sweep_at === null ? null : last_sweep_at / SECOND)),
    },
    platform_reseal_pending: {
      type: 'gauge',
      help: 'Whether secrets may be left that are encrypted with an older key; 0 if the cron has found none.',
      samples: each(({ reseal_pending }) => Number(reseal_pending)),
    },
    platform_queue_backlog_messages: {
      type: 'gauge',
      help: 'Messages that wait in the Queue.',
      samples: each(({ queue_backlog }) => queue_backlog),
    },
    platform_database_size_bytes: {
      type: 'gauge',
      help: 'The size of the database.',
      samples: each(({ database_bytes }) => database_bytes),
    },
    platform_database_limit_bytes: {
      type: 'gauge',
      help: 'The size at which D1 refuses writes.',
      samples: each(() => MAX_STORE_BYTES),
    },
  }
}

/** A sample, if its value is known. */
function one(labels: Record<string, string>, value: number | null): Family['samples'] {
  return value === null ? [] : [[labels, value]]
}

/** Values are our own words and ids: nothing in them needs escaping. */
function labelled(labels: Record<string, string>): string {
  const list = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return list.length === 0 ? '' : `{${list.join(',')}}`
}

import { SECOND } from '../../lib/time'
import type { Deployment } from './deployment'
import { MAX_STORE_BYTES } from './limits'

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

function familiesOf(numbers: Deployment, version: string | null): Record<string, Family> {
  const { counts, oldest_pending_age_ms, last_sweep_at } = numbers
  return {
    platform_build_info: {
      type: 'gauge',
      help: 'Always 1; the label has the id of the deployed version.',
      samples: version === null ? [] : [[{ version }, 1]],
    },
    platform_events: {
      type: 'gauge',
      help: 'Webhook events by status. Open ones are counted up to 10,000 together.',
      samples: Object.entries(counts).map(([status, n]) => [{ status }, n]),
    },
    platform_oldest_pending_age_seconds: {
      type: 'gauge',
      help: 'The age of the oldest open event; 0 if none is open.',
      samples: one((oldest_pending_age_ms ?? 0) / SECOND),
    },
    platform_expired_leases: {
      type: 'gauge',
      help: 'Open events whose worker did not finish them within its lease.',
      samples: one(numbers.expired_leases),
    },
    platform_dead_letters_total: {
      type: 'counter',
      help: 'Messages that have come through the dead-letter queue.',
      samples: one(numbers.dead_letters),
    },
    platform_last_sweep_timestamp_seconds: {
      type: 'gauge',
      help: 'When the sweep last ran.',
      samples: one(last_sweep_at === null ? null : last_sweep_at / SECOND),
    },
    platform_queue_backlog_messages: {
      type: 'gauge',
      help: 'Messages that wait in the Queue.',
      samples: one(numbers.queue_backlog),
    },
    platform_database_size_bytes: {
      type: 'gauge',
      help: 'The size of the database.',
      samples: one(numbers.database_bytes),
    },
    platform_database_limit_bytes: {
      type: 'gauge',
      help: 'The size at which D1 refuses writes.',
      samples: one(MAX_STORE_BYTES),
    },
  }
}

/** A sample without labels, if its value is known. */
function one(value: number | null): Family['samples'] {
  return value === null ? [] : [[{}, value]]
}

/** Values are our own words and ids: nothing in them needs escaping. */
function labelled(labels: Record<string, string>): string {
  const list = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return list.length === 0 ? '' : `{${list.join(',')}}`
}

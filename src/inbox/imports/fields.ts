import * as z from 'zod'
import { named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { iso, isoOrNull } from '../../lib/time'
import { LISTED_KINDS } from '../../vendors/calls'
import { INVOICE_MONTHS, MAX_INVOICE_MONTHS } from './limits'
import type { RunRow } from './runs'
import { KIND_STATES, RUN_ERRORS, RUN_STATES } from './schema'

const Kind = named('ImportedKind', z.enum(LISTED_KINDS))

export const StartBody = named(
  'StartImport',
  z.strictObject({
    kinds: z
      .array(Kind)
      .min(1)
      .max(LISTED_KINDS.length)
      .default([...LISTED_KINDS])
      .describe('What to read. By default, all of it.'),
    invoice_months: z
      .int()
      .min(0)
      .max(MAX_INVOICE_MONTHS)
      .default(INVOICE_MONTHS)
      .describe('Invoices that are older than so many months are left out.'),
  }),
  { kinds: ['customers', 'subscriptions'], invoice_months: INVOICE_MONTHS },
)

const Progress = named(
  'ImportProgress',
  z.object({
    state: named('ImportKindState', z.enum(KIND_STATES)).describe(
      '`permission_missing`: the API key may not read this kind. The others are read all the same.',
    ),
    seen: z.int().describe('Objects that were read. One that is read twice counts twice.'),
    recorded: z.int().describe('Those of them that said something new.'),
    unchanged: z.int().describe('Those of them that said what was known.'),
  }),
  { state: 'running', seen: 1200, recorded: 1150, unchanged: 50 },
)

const running = { state: 'running' as const, seen: 1200, recorded: 1150, unchanged: 50 }

export const ImportShown = named(
  'Import',
  z.object({
    id: z.string(),
    state: named('ImportState', z.enum(RUN_STATES)).describe(
      '`waiting`: until `waiting_until`, because of `error`. `failed`: see `error`. A new import goes on from there.',
    ),
    kinds: z.partialRecord(Kind, Progress).describe('What is read, in this order, and how far it is.'),
    continues: z
      .string()
      .nullable()
      .describe('The id of the import that failed or was canceled, from which this one goes on. Its counts go on too.'),
    waiting_until: timestamp.nullable(),
    error: named('ImportError', z.enum(RUN_ERRORS))
      .nullable()
      .describe(
        '`rate_limited`, `vendor_unavailable`: the vendor is asked again. `vendor_refused`: the vendor finds the request wrong. `api_key_refused`, `api_key_removed`: set a key. `encryption_key_unavailable`: the service cannot open the key. `database_filling`: the database is too full for an import.',
      ),
    created_at: timestamp,
    updated_at: timestamp,
    finished_at: timestamp.nullable(),
  }),
  {
    id: SAMPLE.import,
    state: 'running',
    kinds: { customers: running },
    continues: null,
    waiting_until: null,
    error: null,
    created_at: SAMPLE.time,
    updated_at: SAMPLE.later,
    finished_at: null,
  },
)

export function presentImport(row: RunRow): z.infer<typeof ImportShown> {
  const { id, state, kinds, continues, waiting_until, error, created_at, updated_at, finished_at } = row
  const shown = Object.entries(kinds).map(([kind, { state, seen, recorded, unchanged }]) => {
    return [kind, { state, seen, recorded, unchanged }]
  })
  return {
    id,
    state,
    kinds: Object.fromEntries(shown),
    continues,
    waiting_until: isoOrNull(waiting_until),
    error,
    created_at: iso(created_at),
    updated_at: iso(updated_at),
    finished_at: isoOrNull(finished_at),
  }
}

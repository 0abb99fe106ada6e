import * as z from 'zod'
import { named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { DAY, iso, isoOrNull } from '../../lib/time'
import { LISTED_KINDS, PAYMENT_METHODS_READ } from '../../vendors/calls'
import { CONTINUED_WITHIN_MS, INVOICE_MONTHS, MAX_INVOICE_MONTHS } from './limits'
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
      .describe('What to read. By default, all kinds.'),
    invoice_months: z
      .int()
      .min(0)
      .max(MAX_INVOICE_MONTHS)
      .default(INVOICE_MONTHS)
      .describe('How many months of invoices to read. Older invoices are left out.'),
    payment_methods: named('PaymentMethodsRead', z.enum(PAYMENT_METHODS_READ))
      .default('default')
      .describe(
        '`default`: payment methods of subscriptions that have not ended. `all`: all payment methods of each customer, with one call to the vendor for each customer. For Paddle, `default` reads none.',
      ),
  }),
  { kinds: ['customers', 'subscriptions'], invoice_months: INVOICE_MONTHS },
)

const Progress = named(
  'ImportProgress',
  z.object({
    state: named('ImportKindState', z.enum(KIND_STATES)).describe(
      '`permission_missing`: the API key cannot read this kind. The import still reads the others.',
    ),
    seen: z.int().describe('Objects that were read. An object that is read twice counts twice.'),
    recorded: z.int().describe('How many of them said something new.'),
    unchanged: z.int().describe('How many of them say what was already known.'),
    left_out: z.int().describe('How many of them were not recorded: they are about erased consumers, or too large.'),
  }),
  { state: 'running', seen: 1200, recorded: 1150, unchanged: 48, left_out: 2 },
)

const running = { state: 'running' as const, seen: 1200, recorded: 1150, unchanged: 48, left_out: 2 }

export const ImportShown = named(
  'Import',
  z.object({
    id: z.string(),
    state: named('ImportState', z.enum(RUN_STATES)).describe(
      `\`waiting\`: it waits until \`waiting_until\`, because of \`error\`. \`failed\`: see \`error\`. A new import continues from there, if it begins within ${CONTINUED_WITHIN_MS / DAY} days.`,
    ),
    kinds: z.partialRecord(Kind, Progress).describe('The kinds that are read, in this order, with their progress.'),
    continues: z
      .string()
      .nullable()
      .describe('The id of the failed or canceled import that this one continues. The counts carry on too.'),
    waiting_until: timestamp.nullable(),
    error: named('ImportError', z.enum(RUN_ERRORS))
      .nullable()
      .describe(
        '`rate_limited`, `vendor_unavailable`: the vendor is asked again. `vendor_refused`: the vendor rejected the request. `api_key_refused`, `api_key_removed`: set a key. `encryption_key_unavailable`: the service cannot open the key. `database_filling`: the database is too full for an import.',
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
  const shown = Object.entries(kinds).map(([kind, { state, seen, recorded, unchanged, left_out = 0 }]) => {
    return [kind, { state, seen, recorded, unchanged, left_out }]
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

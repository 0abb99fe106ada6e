import * as z from 'zod'
import { count, named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { idTime } from '../../lib/ids'
import { iso } from '../../lib/time'
import type { StateKind } from '../../vendors/kinds'
import { newVersionOf, sumOf, unknownWordsOf, vanishedIn, versionsOf } from './findings'
import { MAX_FORMAT_WORD, MAX_UNKNOWN_WORDS, MAX_VERSIONS, VANISHED, WEEKS_KEPT, WORDS_TOLD_FOR } from './limits'
import { FIELDS, SHOWN_KINDS } from './parsed'
import type { FormatRow } from './schema'
import { mondayOf } from './weeks'
import { newVersionWords, vanishedWords, wordWords } from './words'

const ShownKindName = named('FormatKind', z.enum(SHOWN_KINDS))
const version = z
  .string()
  .nullable()
  .describe(`As the events name it, cut to ${MAX_FORMAT_WORD} characters. Null if they name none.`)
const share = z.number().min(0).max(1)
const monday = z.iso.date().describe('The Monday (UTC) on which the week begins.')

const FormatOfKind = z.object({
  kind: ShownKindName,
  states: count.describe('How many objects of this kind were counted, each as an event described it.'),
  fields: z
    .record(z.string(), share)
    .describe(
      'The share of these states that had a value in the field. `items.price` is the price of an item. Fields that no version has are left out.',
    ),
  last_event_id: z.string().describe('The last event that was counted, as an example.'),
})

const FormatVersion = named(
  'FormatVersion',
  z.object({
    api_version: version,
    first_seen_at: timestamp,
    last_seen_at: timestamp,
    first_week: monday,
    last_week: monday,
    states: count,
    kinds: z.array(FormatOfKind),
  }),
)

const FormatFinding = named(
  'FormatFinding',
  z.object({
    code: named('FormatFindingCode', z.enum(['new_version', 'field_vanished', 'word_unknown'])).describe(
      `\`new_version\`: events name a different version than before. \`field_vanished\`: at least ${100 * VANISHED.share} % of at least ${VANISHED.before} earlier states had the field, and none of at least ${VANISHED.after} new ones do. \`word_unknown\`: a status or an interval that this service does not know, in the last ${WORDS_TOLD_FOR} weeks.`,
    ),
    message: z.string().describe('What was found, for people to read. The text may change.'),
    api_version: version.describe('The version in which it was found.'),
    kind: ShownKindName.nullable(),
    field: z.string().nullable().describe('The field of the object.'),
    word: z.string().nullable().describe(`The vendor's word, cut to ${MAX_FORMAT_WORD} characters.`),
    states: count.describe(
      'How many states of that version, or of its last week, were counted. For a word: how many states had it.',
    ),
    before: z
      .object({
        api_version: version,
        week: monday.nullable().describe('If weeks of one version were compared: the earlier one.'),
        states: count,
        share: share.nullable().describe('The share of these states that had the field.'),
      })
      .nullable()
      .describe('The earlier states that it was compared with.'),
  }),
)

export const Format = named(
  'ConnectionFormat',
  z.object({
    versions: z
      .array(FormatVersion)
      .describe(`Newest first: the ${MAX_VERSIONS} most recently seen versions of the last ${WEEKS_KEPT} weeks.`),
    findings: z.array(FormatFinding).describe(`Among them are at most ${MAX_UNKNOWN_WORDS} unknown words.`),
  }),
  {
    versions: [
      {
        api_version: '2025-03-31.basil',
        first_seen_at: SAMPLE.time,
        last_seen_at: SAMPLE.later,
        first_week: '2026-11-16',
        last_week: '2026-11-16',
        states: 24,
        kinds: [{ kind: 'subscription', states: 24, fields: { status: 1, schedule: 0 }, last_event_id: SAMPLE.event }],
      },
    ],
    findings: [
      {
        code: 'field_vanished',
        message: 'schedule of subscriptions has vanished.',
        api_version: '2025-03-31.basil',
        kind: 'subscription',
        field: 'schedule',
        word: null,
        states: 24,
        before: { api_version: '2024-06-20', week: null, states: 50, share: 0.96 },
      },
    ],
  },
)
type Format = z.infer<typeof Format>
type Finding = Format['findings'][number]

const versionName = (api_version: string) => api_version || null

/** The counts of a connection, and what follows from them. */
export function presentFormat(rows: readonly FormatRow[], now: number): Format {
  return { versions: presentVersions(rows), findings: presentFindings(rows, now) }
}

function presentVersions(rows: readonly FormatRow[]): Format['versions'] {
  return versionsOf(rows).map(({ api_version, first_event, last_event, events, weeks }) => {
    const own = rows.filter((row) => row.api_version === api_version)
    return {
      api_version: versionName(api_version),
      first_seen_at: iso(idTime(first_event)),
      last_seen_at: iso(idTime(last_event)),
      first_week: mondayOf(weeks[0] ?? 0),
      last_week: mondayOf(weeks.at(-1) ?? 0),
      states: events,
      kinds: SHOWN_KINDS.flatMap((kind) => {
        const ofKind = own.filter((row) => row.kind === kind)
        const [seen] = versionsOf(ofKind)
        if (!seen) return []
        const { fields } = sumOf(ofKind, api_version)
        const names = fieldsSeen(rows, kind)
        const shares = names.map((name) => [name, shareOf(fields[name] ?? 0, seen.events)] as const)
        return { kind, states: seen.events, fields: Object.fromEntries(shares), last_event_id: seen.last_event }
      }),
    }
  })
}

/** The fields of a kind that at least one state had. */
export function fieldsSeen(rows: readonly FormatRow[], kind: StateKind): string[] {
  return FIELDS[kind].filter((name) => rows.some((row) => row.kind === kind && (row.fields[name] ?? 0) > 0))
}

/** A share of 1, to three digits. It is 0 or 1 only if none or all have it. */
export function shareOf(n: number, of: number): number {
  if (n === 0 || n >= of) return n === 0 ? 0 : 1
  return Math.min(0.999, Math.max(0.001, Math.round((1000 * n) / of) / 1000))
}

function presentFindings(rows: readonly FormatRow[], now: number): Finding[] {
  const changed = newVersionOf(rows)
  const vanished = vanishedIn(rows).map((one): Finding => {
    const { kind, field, before, after } = one
    return {
      code: 'field_vanished',
      message: vanishedWords(one),
      api_version: versionName(after.api_version),
      kind,
      field,
      word: null,
      states: after.events,
      before: {
        api_version: versionName(before.api_version),
        week: before.week === null ? null : mondayOf(before.week),
        states: before.events,
        share: shareOf(before.fields[field] ?? 0, before.events),
      },
    }
  })
  const words = unknownWordsOf(rows, now).map((one): Finding => {
    const { kind, field, word, api_version, states } = one
    const at = { kind, field, word, states, api_version: versionName(api_version), before: null }
    return { code: 'word_unknown', message: wordWords(one), ...at }
  })
  if (!changed) return [...vanished, ...words]
  const { version: latest, before } = changed
  const newer: Finding = {
    code: 'new_version',
    message: newVersionWords(changed),
    api_version: versionName(latest.api_version),
    kind: null,
    field: null,
    word: null,
    states: latest.events,
    before: { api_version: versionName(before.api_version), week: null, states: before.events, share: null },
  }
  return [newer, ...vanished, ...words]
}

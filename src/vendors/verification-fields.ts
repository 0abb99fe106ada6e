import * as z from 'zod'
import { named } from '../http/fields'
import type { FieldCode } from '../lib/fault'
import { MAX_TOLERANCE_S, TOLERANCE_MS } from './limits'
import { presetOf } from './presets'
import { partsOf, unsafeIn } from './template'
import { ALGORITHMS, ENCODINGS, headerOf, PLACES, PRESET_NAMES, UNITS, type Verification } from './verification'

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be the name of a header')
  .toLowerCase()
const pairName = z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, 'must be 1 to 40 letters, digits, hyphens or underscores')

/** Where a value of an event is: a path in the JSON body, or a header. */
const place = z
  .string()
  .regex(
    /^(header:[A-Za-z0-9_-]{1,100}|[A-Za-z0-9_$@-]{1,60}(\.[A-Za-z0-9_$@-]{1,60}){0,4})$/,
    'must be a path of at most five names, such as data.id, or header: followed by the name of a header',
  )
  .nullable()
  .optional()

const algorithm = named('VerificationAlgorithm', z.enum(ALGORITHMS)).describe('The hash of the HMAC.')
const header = headerName.describe('The header with the signature.')
const encoding = named('VerificationEncoding', z.enum(ENCODINGS)).describe(
  'The encoding of the signature. `base64` must be padded, and `base64url` must not be.',
)
const signed = z
  .string()
  .min(1)
  .max(500)
  .describe(
    'What is signed: text with `{body}` and, if they are signed too, `{time}`, `{url}` (the `ingest_url`) and `{header:name}`.',
  )
const unit = named('VerificationUnit', z.enum(UNITS)).describe(
  'The unit of the time: `s` for 10 digits of seconds, `ms` for 13 digits of milliseconds. Default: `s`.',
)
const tolerance_s = z
  .int()
  .min(1)
  .max(MAX_TOLERANCE_S)
  .describe('How many seconds a signed time may be from our clock. It has no effect without `{time}`. Default: 300.')

const more = {
  confirm: z.literal(true).optional().describe('Must be true for `sha1`, which is weak.'),
  prefix: z
    .string()
    .regex(/^[\x21-\x7e]{1,40}$/, 'must be 1 to 40 visible characters')
    .optional()
    .describe('The text before the signature in its header, such as `sha256=`.'),
  pairs: z
    .strictObject({ time: pairName.optional(), signature: pairName })
    .optional()
    .describe('For a header of pairs, such as `t=…,v1=…`: the names of the time and of the signatures.'),
  time_header: headerName.optional().describe('The header with the time, if it is not among the pairs.'),
  id: place.describe(
    'Where the id of the event is: a path in the JSON body, or `header:name`. Without it, the id is the SHA-256 of the bytes.',
  ),
  type: place.describe('Where the type of the event is. Without it, the type is `webhook`.'),
  time: place.describe('Where the time of the event is: RFC 3339, or seconds or milliseconds since the epoch.'),
  livemode: place.describe('Where the mode of the event is: true for live, false for test.'),
}
const preset = named('VerificationPreset', z.enum(PRESET_NAMES)).optional()

const EXAMPLE = {
  algorithm: 'sha256',
  header: 'x-signature',
  encoding: 'hex',
  prefix: 'sha256=',
  time_header: 'x-timestamp',
  unit: 's',
  signed: '{time}.{body}',
  tolerance_s: 300,
  id: 'id',
  type: 'type',
  time: 'created_at',
} as const

/** How the deliveries of a connection are verified and read. */
export const VerificationShown = named(
  'Verification',
  z.object({
    preset: preset.describe('The preset that the verification started from. It has no effect of its own.'),
    algorithm,
    header,
    encoding,
    signed,
    unit,
    tolerance_s,
    ...more,
  }),
  EXAMPLE,
)

const Sent = z.strictObject({
  preset: preset.describe(
    'The preset to start from. With a preset, you may leave out `algorithm`, `header`, `encoding` and `signed`, but only all four together.',
  ),
  algorithm: algorithm.optional(),
  header: header.optional(),
  encoding: encoding.optional(),
  signed: signed.optional(),
  unit: unit.optional(),
  tolerance_s: tolerance_s.optional(),
  ...more,
})
const NOTHING = 'must have a preset, or describe how the sender signs'
const REQUIRED = ['algorithm', 'header', 'encoding', 'signed'] as const

/** The same as it is set: whole, or a preset. Only what is safe passes. */
export const VerificationBody = named(
  'SetVerification',
  Sent.superRefine((sent, ctx) => {
    if (Object.keys(sent).length === 0) {
      ctx.addIssue({ code: 'custom', message: NOTHING, params: { code: 'required' } })
      return
    }
    const whole = wholeOf(sent)
    const missing = REQUIRED.filter((name) => whole[name] === undefined)
    const wrong: Unsafe[] =
      missing.length > 0
        ? missing.map((name) => ({ path: name, code: 'required', message: 'is required' }))
        : unsafe(whole as Verification)
    for (const { path, code, message } of wrong) {
      ctx.addIssue({ code: 'custom', path: path.split('.'), message, params: { code } })
    }
  }),
  EXAMPLE,
)

/** What is set, with the defaults; or the preset, with what is changed about it. */
function wholeOf(sent: z.infer<typeof Sent>) {
  const isPreset = sent.preset && REQUIRED.every((name) => sent[name] === undefined)
  const base =
    isPreset && sent.preset ? presetOf(sent.preset) : { unit: 's' as const, tolerance_s: TOLERANCE_MS / 1000 }
  return { ...base, ...sent }
}

/** The verification that a body stands for. */
export function verificationOf(sent: z.infer<typeof VerificationBody>): Verification {
  return wholeOf(sent) as Verification
}

/** Headers with the sender's or a reader's credentials, which neither verify a delivery nor are stored. */
const CREDENTIALS = ['authorization', 'proxy-authorization', 'cookie', 'set-cookie']

/** `path`: of the field, its names joined by full stops. */
type Unsafe = { path: string; code: FieldCode; message: string }

/** What makes a verification unsafe, or impossible to pass. */
function unsafe(sent: Verification): Unsafe[] {
  return [...unsafeHash(sent), ...unsafeHeader(sent), ...unsafeSigned(sent), ...unsafeNames(sent)]
}

function unsafeHash({ algorithm, confirm }: Verification): Unsafe[] {
  if (algorithm !== 'sha1' || confirm) return []
  return [
    { path: 'confirm', code: 'required', message: 'must be true for sha1, which is weak. Ask the sender for sha256' },
  ]
}

function unsafeHeader({ header, prefix, pairs, time_header }: Verification): Unsafe[] {
  const found: Unsafe[] = []
  const wrong = (path: string, message: string) => found.push({ path, code: 'malformed', message })
  if (CREDENTIALS.includes(header)) {
    found.push({ path: 'header', code: 'reserved', message: 'must not be a header for credentials' })
  }
  if (pairs && prefix !== undefined) wrong('prefix', 'must be left out if there are pairs')
  if (pairs && pairs.time === pairs.signature) wrong('pairs.time', 'must differ from the name of the signature')
  if (pairs?.time && time_header) wrong('time_header', 'must be left out if the pairs have a time')
  return found
}

function unsafeSigned({ signed, pairs, time_header }: Verification): Unsafe[] {
  const parts = partsOf(signed)
  const isTimed = parts?.some(({ of }) => of === 'time') ?? false
  const hasTime = Boolean(pairs?.time ?? time_header)
  const message =
    unsafeIn(parts) ??
    (isTimed && !hasTime ? 'has {time}, so a pair or a header with the time is needed' : null) ??
    (!isTimed && hasTime ? 'must contain {time}: otherwise anyone could change the time' : null)
  return message === null ? [] : [{ path: 'signed', code: 'malformed', message }]
}

/** Headers that are read beside that of the signature. Those of an event are stored, so no credentials may be among them. */
function unsafeNames(sent: Verification): Unsafe[] {
  const inSigned = partsOf(sent.signed)?.flatMap((part) => (part.of === 'header' ? [part.name] : [])) ?? []
  const named: [path: string, name: string | null][] = [
    ['time_header', sent.time_header ?? null],
    ...inSigned.map((name): [string, string] => ['signed', name]),
    ...PLACES.map((name): [string, string | null] => [name, headerOf(sent[name])]),
  ]
  return named.flatMap(([path, name]): Unsafe[] => {
    if (name === null) return []
    if (CREDENTIALS.includes(name))
      return [{ path, code: 'reserved', message: 'must not name a header for credentials' }]
    return name === sent.header
      ? [{ path, code: 'reserved', message: 'must not name the header of the signature' }]
      : []
  })
}

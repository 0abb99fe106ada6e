import * as z from 'zod'
import { named, timestamp, visibleText } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { iso } from '../lib/time'
import { MAX_PASSKEY_NAME } from './limits'
import type { Passkey } from './passkey'

const text = z.string().max(20_000)
const base = { id: text.min(1), rawId: text.min(1), type: z.literal('public-key') }

/** What a browser's `PublicKeyCredential.toJSON()` returns for a new passkey. Browsers may add fields. */
const Registered = z.looseObject({
  ...base,
  response: z.looseObject({
    clientDataJSON: text,
    attestationObject: text,
    transports: z.array(z.string().max(30)).max(10).optional(),
  }),
  clientExtensionResults: z.looseObject({}).default({}),
})

/** The same for a passkey that was used. */
const Used = z.looseObject({
  ...base,
  response: z.looseObject({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: text.nullish().transform((handle) => handle ?? undefined),
  }),
  clientExtensionResults: z.looseObject({}).default({}),
})

const credential = 'The `PublicKeyCredential` that the browser returned, as its `toJSON()`.'
const example = { id: 'xUcl8…', rawId: 'xUcl8…', type: 'public-key', clientExtensionResults: {} }

const PasskeyName = visibleText(MAX_PASSKEY_NAME)

export const RegisterPasskeyBody = named(
  'RegisterPasskey',
  z.strictObject({
    name: PasskeyName.default('Passkey').describe('What you call it, such as the name of the device.'),
    credential: z.unknown().pipe(Registered).describe(credential),
  }),
  {
    name: 'Laptop',
    credential: { ...example, response: { clientDataJSON: 'eyJ0eX…', attestationObject: 'o2NmbX…' } },
  },
)

export const UseBody = named(
  'UsePasskey',
  z.strictObject({ credential: z.unknown().pipe(Used).describe(credential) }),
  {
    credential: {
      ...example,
      response: { clientDataJSON: 'eyJ0eX…', authenticatorData: 'SZYN5Y…', signature: 'MEUCIQ…' },
    },
  },
)
export type UsedCredential = z.infer<typeof UseBody>['credential']
export type RegisteredCredential = z.infer<typeof RegisterPasskeyBody>['credential']

export const RenameBody = named('PasskeyName', z.strictObject({ name: PasskeyName }), { name: 'Laptop' })

export const RecoveryBody = named('UseRecoveryCode', z.strictObject({ code: visibleText(100) }), {
  code: 'V3K8Q0-ZT5M2H-9WX4RB-7C1FDN',
})

const options = z.record(z.string(), z.unknown())
export const CreationOptions = named(
  'PasskeyCreationOptions',
  z.object({ options: options.describe('For `PublicKeyCredential.parseCreationOptionsFromJSON()`.') }),
  { options: { challenge: 'cGNoXz…', rp: { name: 'Platform API', id: 'api.example.com' } } },
)
export const RequestOptions = named(
  'PasskeyRequestOptions',
  z.object({ options: options.describe('For `PublicKeyCredential.parseRequestOptionsFromJSON()`.') }),
  { options: { challenge: 'cGNoXz…', rpId: 'api.example.com', userVerification: 'required' } },
)

const shown = {
  id: SAMPLE.passkey,
  name: 'Laptop',
  backed_up: true,
  transports: ['internal', 'hybrid'],
  created_at: SAMPLE.time,
  last_used_at: null,
}
export const PasskeyShown = named(
  'Passkey',
  z.object({
    id: z.string(),
    name: z.string(),
    backed_up: z
      .boolean()
      .describe('Whether the passkey is also kept elsewhere, such as in the account of a phone’s maker.'),
    transports: z.array(z.string()).describe('How a browser reaches the authenticator.'),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
  }),
  shown,
)
const codes = z.array(z.string())
export const RegisteredPasskey = named(
  'RegisteredPasskey',
  z.object({
    passkey: PasskeyShown,
    recovery_codes: codes
      .nullable()
      .describe('With the first passkey: ten codes that each stand in for a passkey once. They are shown only here.'),
  }),
  { passkey: shown, recovery_codes: ['V3K8Q0-ZT5M2H-9WX4RB-7C1FDN'] },
)
export const NewRecoveryCodes = named('NewRecoveryCodes', z.object({ recovery_codes: codes }), {
  recovery_codes: ['V3K8Q0-ZT5M2H-9WX4RB-7C1FDN'],
})
export const RecoveryCodesLeft = named(
  'RecoveryCodesLeft',
  z.object({ left: z.int().min(0), created_at: timestamp.nullable() }),
  { left: 10, created_at: SAMPLE.time },
)

/** A passkey as it is shown. */
export function presentPasskey({
  id,
  name,
  backed_up,
  transports,
  created_at,
  last_used_at,
}: Passkey): z.infer<typeof PasskeyShown> {
  return {
    id,
    name,
    backed_up,
    transports,
    created_at: iso(created_at),
    last_used_at: last_used_at === null ? null : iso(last_used_at),
  }
}

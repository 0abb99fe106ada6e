import { call, signedIn } from '../harness'
import { newAuthenticator } from '../passkeys/authenticator'
import { byCode, register, requestOptions, signInBy, withPasskey } from '../passkeys/people'
import { OWN, type Page, type Rows, times } from './row'

const confirmed = { ...OWN, confirmed: true } as const
// Well-formed, but nobody has such a passkey.
const PASSKEY = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {} }
const MADE = { ...PASSKEY, response: { clientDataJSON: 'e30', attestationObject: 'oA', transports: ['usb'] } }
const USED = { ...PASSKEY, response: { clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'AAAA' } }
const newOptions = (token: string) => call('/auth/passkeys/options', { method: 'POST', token })

/** Pages of accounts: not with a session from single sign-on. */
const account = (...pages: string[]): Record<string, Page> =>
  Object.fromEntries(pages.map((page) => [page, { policy: 'account' }]))

export const PASSKEYS: Rows = {
  'GET /auth/passkeys': { who: OWN, console: { ...account('GET /console/passkeys'), 'GET /console/passkeys/:id': {} } },
  'POST /auth/passkeys/options': {
    who: confirmed,
    faults: {
      passkey_required: async () => newOptions((await byCode(await withPasskey())).token),
      passkey_limit_reached: async () => {
        const { token } = await withPasskey()
        await times(9, () => register(token))
        return newOptions(token)
      },
    },
    console: account('GET /console/passkeys/new', 'POST /console/passkeys/options'),
  },
  'POST /auth/passkeys': {
    who: confirmed,
    json: { name: 'sample', credential: MADE },
    status: 422,
    faults: {
      registration_refused: async () =>
        (await register((await signedIn()).token, { origin: 'https://evil.test' })).answer,
      passkey_exists: async () => {
        const { authenticator } = await withPasskey()
        return (await register((await signedIn()).token, {}, Promise.resolve(authenticator))).answer
      },
    },
    console: account('POST /console/passkeys'),
  },
  'PATCH /auth/passkeys/:id': {
    who: OWN,
    json: { name: 'sample' },
    console: account('GET /console/passkeys/:id/rename', 'POST /console/passkeys/:id/rename'),
  },
  'DELETE /auth/passkeys/:id': {
    who: confirmed,
    console: account('GET /console/passkeys/:id/delete', 'POST /console/passkeys/:id/delete'),
  },
  'POST /auth/passkeys/challenge': { who: 'public', console: { 'POST /console/sign-in/passkey/options': {} } },
  'POST /auth/sessions/passkey': {
    who: 'public',
    json: { credential: USED },
    status: 401,
    faults: { invalid_passkey: async () => signInBy(await (await newAuthenticator()).get(await requestOptions())) },
    console: { 'POST /console/sign-in/passkey': {} },
  },
  'POST /auth/session/passkey/options': { who: OWN, console: { 'POST /console/second-factor/options': {} } },
  'POST /auth/session/passkey': {
    who: OWN,
    json: { credential: USED },
    status: 401,
    console: { 'GET /console/second-factor': {}, 'POST /console/second-factor': {} },
  },
  'POST /auth/session/recovery-code': {
    who: OWN,
    json: { code: '00000-00000' },
    status: 401,
    faults: {
      invalid_recovery_code: async () => {
        const { token } = await signedIn()
        return call('/auth/session/recovery-code', { method: 'POST', token, json: { code: '00000-00000' } })
      },
    },
    console: { 'POST /console/second-factor/code': {} },
  },
  'GET /auth/recovery-codes': { who: OWN, console: account('GET /console/passkeys/codes') },
  'POST /auth/recovery-codes': { who: confirmed, console: account('POST /console/passkeys/codes') },
}

import { Hono } from 'hono'
import { clientOf } from '../accounts/by'
import { BROWSER_KEPT } from '../accounts/limits'
import { run } from '../db/client'
import { answer } from '../http/answer'
import { sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf } from '../http/page'
import { route } from '../http/route'
import { body } from '../http/validate'
import { DAY, iso } from '../lib/time'
import { StartedSession } from '../sessions/fields'
import { limitSteps, takeStep } from '../sessions/sign-in'
import { beginRegistration, finishRegistration, namePasskey, removePasskey } from './change'
import {
  CreationOptions,
  PasskeyShown,
  presentPasskey,
  RegisteredPasskey,
  RegisterPasskeyBody,
  RenameBody,
  RequestOptions,
  UseBody,
} from './fields'
import { MAX_PASSKEYS } from './limits'
import { passkeysOf } from './passkey'
import { beginSignIn, signInWithPasskey } from './use'

const tag = 'Passkeys'
const sessionOnly = { actors: ['session'], scope: null, project: false } as const
const confirmed = { ...sessionOnly, confirmed: true } as const

/** Passkeys of the user: register, list, rename, delete; and signing in with one. */
export const passkeyRoutes = new Hono<HttpEnv>()
  .get(
    '/passkeys',
    route({
      id: 'listPasskeys',
      summary: 'List your passkeys',
      description: `Oldest first, all on one page: a user can have ${MAX_PASSKEYS}.`,
      tag,
      policy: sessionOnly,
      responses: { 200: { description: 'Your passkeys.', schema: listOf(PasskeyShown) } },
    }),
    async (c) => {
      const { directory } = c.get('rt')
      const own = await run(directory, passkeysOf(directory, sessionOf(c).user_id))
      return answer(c, { data: own.map(presentPasskey), has_more: false, next_cursor: null }, 200)
    },
  )
  .post(
    '/passkeys/options',
    route({
      id: 'beginPasskeyRegistration',
      summary: 'Get the options for a new passkey',
      description:
        'Pass them to the browser, and its answer to `POST /auth/passkeys` within five minutes. If you have a passkey already, this session must have its second factor.',
      tag,
      policy: confirmed,
      responses: { 200: { description: 'The options.', schema: CreationOptions } },
      faults: ['passkey_required', 'passkey_limit_reached', 'public_origin_missing'],
    }),
    async (c) => answer(c, { options: { ...(await beginRegistration(c, sessionOf(c))) } }, 200),
  )
  .post(
    '/passkeys',
    route({
      id: 'registerPasskey',
      summary: 'Register a passkey',
      description:
        'The passkey is the second factor of this session from now on. With the first passkey you get recovery codes, which are returned only in this response.',
      tag,
      policy: confirmed,
      responses: { 201: { description: 'The passkey.', schema: RegisteredPasskey } },
      faults: [
        'registration_refused',
        'passkey_required',
        'passkey_exists',
        'passkey_limit_reached',
        'public_origin_missing',
      ],
    }),
    body(RegisterPasskeyBody),
    async (c) => {
      const { passkey, codes } = await finishRegistration(c, sessionOf(c), c.req.valid('json'))
      return answer(c, { passkey: presentPasskey(passkey), recovery_codes: codes }, 201)
    },
  )
  .post(
    '/passkeys/challenge',
    route({
      id: 'beginPasskeySignIn',
      summary: 'Get the options for signing in with a passkey',
      description:
        'They name no user: the browser offers the passkeys that it has for this site. Send its answer to `POST /auth/sessions/passkey` within five minutes.',
      tag,
      policy: null,
      responses: { 200: { description: 'The options.', schema: RequestOptions } },
      faults: ['rate_limited', 'public_origin_missing'],
    }),
    async (c) => {
      await limitSteps(c)
      return answer(c, { options: { ...(await beginSignIn(c)) } }, 200)
    },
  )
  .post(
    '/sessions/passkey',
    route({
      id: 'createSessionWithPasskey',
      summary: 'Sign in with a passkey',
      description: `The token is returned only in this response. The session has its second factor from the start. A challenge works once. If your client’s user agent has not signed in to your account in the last ${BROWSER_KEPT / DAY} days, you get an email about it.`,
      tag,
      policy: null,
      responses: { 201: { description: 'Signed in.', schema: StartedSession } },
      faults: ['invalid_passkey', 'rate_limited', 'public_origin_missing'],
    }),
    body(UseBody),
    async (c) => {
      const { credential } = c.req.valid('json')
      const { token, expires_at, user } = await takeStep(c, credential.id, () =>
        signInWithPasskey(c, credential, { browser: clientOf(c) }),
      )
      return answer(c, { token, expires_at: iso(expires_at), user: { id: user.id, email: user.email } }, 201)
    },
  )
  .patch(
    '/passkeys/:id',
    route({
      id: 'renamePasskey',
      summary: 'Rename one of your passkeys',
      description: 'The name is only for you.',
      tag,
      policy: sessionOnly,
      responses: { 200: { description: 'The passkey.', schema: PasskeyShown } },
      faults: ['not_found'],
    }),
    body(RenameBody),
    async (c) => {
      const { name } = c.req.valid('json')
      return answer(c, presentPasskey(await namePasskey(c, sessionOf(c), c.req.param('id'), name)), 200)
    },
  )
  .delete(
    '/passkeys/:id',
    route({
      id: 'deletePasskey',
      summary: 'Delete one of your passkeys',
      description:
        'It no longer signs you in. Your other sessions continue, but lose their second factor and are no longer confirmed. The recovery codes end with the last passkey. This session must have its second factor.',
      tag,
      policy: confirmed,
      responses: { 204: { description: 'Deleted.' } },
      faults: ['not_found', 'passkey_required'],
    }),
    async (c) => {
      await removePasskey(c, sessionOf(c), c.req.param('id'))
      return answer(c, null, 204)
    },
  )

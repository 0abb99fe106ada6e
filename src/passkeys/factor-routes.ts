import { Hono } from 'hono'
import { run } from '../db/client'
import { answer } from '../http/answer'
import { sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { CONFIRMED_FOR } from '../http/limits'
import { route } from '../http/route'
import { body } from '../http/validate'
import { iso, MINUTE } from '../lib/time'
import { takeStep } from '../sessions/sign-in'
import { NewRecoveryCodes, RecoveryBody, RecoveryCodesLeft, RequestOptions, UseBody } from './fields'
import { renewRecoveryCodes, useRecoveryCode } from './recovery'
import { codesLeft } from './recovery-codes'
import { beginProof, provePasskey } from './use'

const tag = 'Passkeys'
const sessionOnly = { actors: ['session'], scope: null, project: false } as const
const bounded = { ...sessionOnly, bounded: true } as const

/** The second factor of a session: a passkey, or a recovery code in its place. */
export const factorRoutes = new Hono<HttpEnv>()
  .post(
    '/session/passkey/options',
    route({
      id: 'beginPasskeyProof',
      summary: 'Get the options for using a passkey in this session',
      description: 'Pass them to the browser, and its answer to `POST /auth/session/passkey` within five minutes.',
      tag,
      policy: bounded,
      responses: { 200: { description: 'The options.', schema: RequestOptions } },
      faults: ['not_found', 'public_origin_missing'],
    }),
    async (c) => answer(c, { options: { ...(await beginProof(c, sessionOf(c))) } }, 200),
  )
  .post(
    '/session/passkey',
    route({
      id: 'provePasskey',
      summary: 'Use a passkey in this session',
      description: `The session then has its second factor, which projects can require of admins and owners, and is confirmed for ${CONFIRMED_FOR / MINUTE} minutes, as with \`POST /auth/session/confirm\`.`,
      tag,
      policy: bounded,
      responses: { 204: { description: 'The session has its second factor, and is confirmed.' } },
      faults: ['invalid_passkey', 'public_origin_missing'],
    }),
    body(UseBody),
    async (c) => {
      const { credential } = c.req.valid('json')
      await takeStep(c, sessionOf(c).user_id, () => provePasskey(c, sessionOf(c), credential))
      return answer(c, null, 204)
    },
  )
  .post(
    '/session/recovery-code',
    route({
      id: 'useRecoveryCode',
      summary: 'Use a recovery code in this session',
      description:
        'For when the device with the passkey is lost: the session then has its second factor. A code works once. It does not confirm the session.',
      tag,
      policy: bounded,
      responses: { 204: { description: 'The session has its second factor.' } },
      faults: ['invalid_recovery_code'],
    }),
    body(RecoveryBody),
    async (c) => {
      const { code } = c.req.valid('json')
      await takeStep(c, sessionOf(c).user_id, () => useRecoveryCode(c, sessionOf(c), code))
      return answer(c, null, 204)
    },
  )
  .get(
    '/recovery-codes',
    route({
      id: 'countRecoveryCodes',
      summary: 'Count your recovery codes',
      description: 'How many of your codes have not been used. The codes themselves cannot be read again.',
      tag,
      policy: sessionOnly,
      responses: { 200: { description: 'The number.', schema: RecoveryCodesLeft } },
    }),
    async (c) => {
      const { directory } = c.get('rt')
      const [counted] = await run(directory, codesLeft(directory, sessionOf(c).user_id))
      const { left = 0, created_at = null } = counted ?? {}
      return answer(c, { left, created_at: created_at === null ? null : iso(created_at) }, 200)
    },
  )
  .post(
    '/recovery-codes',
    route({
      id: 'renewRecoveryCodes',
      summary: 'Make new recovery codes',
      description:
        'They replace the old ones, and are returned only in this response. Your other sessions lose their second factor and are no longer confirmed. You must have a passkey, and this session must have its second factor.',
      tag,
      policy: { ...sessionOnly, confirmed: true },
      responses: { 201: { description: 'The codes.', schema: NewRecoveryCodes } },
      faults: ['not_found', 'passkey_required'],
    }),
    async (c) => answer(c, { recovery_codes: await renewRecoveryCodes(c, sessionOf(c)) }, 201),
  )

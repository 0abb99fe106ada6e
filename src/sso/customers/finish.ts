import type { Context } from 'hono'
import { MAX_CONSUMER_NAME } from '../../consumers/limits'
import { ensureConsumer } from '../../consumers/put'
import { findSurvivor } from '../../consumers/read'
import type { ConsumerState } from '../../consumers/schema'
import { batch, run } from '../../db/client'
import { notBound, type Runtime } from '../../env'
import type { HttpEnv } from '../../http/context'
import { visibleText } from '../../http/fields'
import { randomHex, sha256Hex } from '../../lib/crypto'
import { newId, storeOfProject } from '../../lib/ids'
import { iso } from '../../lib/time'
import { CODE_BYTES } from '../limits'
import type { Finishing } from '../login/logins'
import { SignInRefused } from '../login/refused'
import type { Identified } from '../oidc/oidc-client'
import { markCreated } from './codes'
import type { SignedInIdentity } from './fields'
import { commitSignIn, findByAddress, findIdentity, type IdentityKey, vouchesFor } from './identities'
import { type ConsumerRefusal, choose, consumerRefusal, REFUSALS, verifiedAddressOf } from './resolve'

/**
 * Ends the sign-in of a customer's consumer: finds or makes the consumer, and leads back to the application with a code. The
 * identity, in the directory, is the commit. A consumer that it names and that is not there yet is made after it, under the id
 * that the identity has; whoever comes first makes it.
 *
 * @throws {SignInRefused} if nobody is signed in: its reason goes to the same address
 */
export async function finishCustomers(c: Context<HttpEnv>, finishing: Finishing): Promise<Response> {
  const { login, connection } = finishing
  const rt = storeOf(c, connection.project_id)
  const code = await signIn(rt, finishing, c.get('requestId'))
  const url = new URL(login.redirect_to)
  url.searchParams.append('code', code)
  if (login.app_state !== null) url.searchParams.append('state', login.app_state)
  return c.redirect(url.href, 303)
}

/** @returns the code */
async function signIn(rt: Runtime, { login, connection, identified }: Finishing, request_id: string): Promise<string> {
  const { directory, db, now } = rt
  const { project_id, id: connection_id, settings } = connection
  const key: IdentityKey = { connection_id, issuer: identified.issuer, subject: identified.subject }
  const address = verifiedAddressOf(identified)
  const found = await batch(directory, {
    identity: findIdentity(directory, key),
    vouched: vouchesFor(directory, connection, address?.hostname ?? ''),
  })
  const [known] = found.identity
  // Only an address that the connection vouches for says who somebody is. Another one stays with the identity: if a
  // consumer had it, its real owner would be linked to that consumer later.
  const email = address && found.vouched.length > 0 ? address.email : null
  const whose = known
    ? await ofIdentity(rt, project_id, known.consumer_id ?? '')
    : await ofNewcomer(rt, project_id, email, settings.create_consumers)

  const id = known?.id ?? newId('idn', now)
  const code = randomHex(CODE_BYTES)
  const hash = await sha256Hex(code)
  const actor = { type: 'system' as const, id: connection_id }
  const named = await commitSignIn(
    directory,
    {
      project_id,
      key,
      identity: { id, isNew: !known, consumer_id: whose.id, email: identified.email },
      code: {
        hash,
        redirect_uri: login.redirect_to,
        code_challenge: login.code_challenge,
        created: !whose.isThere,
        identity: described(identified, { id, connection_id, now }),
      },
    },
    { actor, request_id, now },
  )
  if (named === null) throw refusal('sign_in_ended')
  const isOurs = named === whose.id
  if (whose.isThere && isOurs) return code
  const fields = { email, name: nameOf(identified) }
  const { consumer, created } = await ensureConsumer(db, { project_id, id: named }, fields, { actor, now })
  requireLiving(consumer)
  // The code says that this sign-in has created the consumer if the identity is its own. Another one may have been faster.
  const said = isOurs && !whose.isThere
  if (created !== said) await run(directory, markCreated(directory, hash, created))
  return code
}

/** A consumer, which may still have to be made under this id. */
type Whose = { id: string; isThere: boolean }

async function ofIdentity({ db }: Runtime, projectId: string, id: string): Promise<Whose> {
  const [consumer] = await run(db, findSurvivor(db, projectId, id))
  if (consumer) requireLiving(consumer)
  return { id, isThere: consumer !== undefined }
}

/** @param email an address that says who it is; null if there is none */
async function ofNewcomer(
  { db, now }: Runtime,
  projectId: string,
  email: string | null,
  createsConsumers: boolean,
): Promise<Whose> {
  const sameAddress = email === null ? [] : await run(db, findByAddress(db, projectId, email))
  const chosen = choose(sameAddress, createsConsumers)
  if ('refused' in chosen) throw refusal(chosen.refused)
  return { id: chosen.id ?? newId('csm', now), isThere: chosen.id !== null }
}

/** @throws {SignInRefused} for a consumer that cannot be signed in */
function requireLiving(consumer: { state: ConsumerState }): void {
  const refused = consumerRefusal(consumer)
  if (refused) throw refusal(refused)
}

function refusal(refused: ConsumerRefusal): SignInRefused {
  return new SignInRefused(refused, REFUSALS[refused])
}

/** The name, if a consumer may have it. */
function nameOf({ name }: Identified): string | null {
  return visibleText(MAX_CONSUMER_NAME).safeParse(name).data ?? null
}

function described(
  { issuer, subject, email, email_verified, name, claims }: Identified,
  { id, connection_id, now }: { id: string; connection_id: string; now: number },
): SignedInIdentity {
  return {
    id,
    connection_id,
    issuer,
    subject,
    email,
    email_verified,
    name,
    claims,
    authenticated_at: iso(now),
  }
}

/** The runtime at the store of a project. */
function storeOf(c: Context<HttpEnv>, projectId: string): Runtime {
  const store = storeOfProject(projectId) ?? 0
  const inside = c.get('rt').at(store)
  if (!inside) throw notBound(store)
  return inside
}

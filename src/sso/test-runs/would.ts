import { and, eq, sql } from 'drizzle-orm'
import { users } from '../../accounts/schema'
import { findSurvivor } from '../../consumers/read'
import { batch, type Directory, run } from '../../db/client'
import { notBound, type Runtime } from '../../env'
import { ssoIdentities } from '../../identities/schema'
import type { Would } from '../../identities/values'
import { storeOfProject } from '../../lib/ids'
import { members } from '../../tenancy/schema'
import type { SsoConnection } from '../connections/connection'
import { findByAddress, findIdentity, vouchesFor } from '../customers/identities'
import { choose, consumerRefusal, REFUSALS, verifiedAddressOf } from '../customers/resolve'
import type { Identified } from '../oidc/oidc-client'
import { type AdmissionFacts, admit, doubtAbout, withUsableEmail } from '../team/admission'
import { entrantOf, marksOf, selectFacts } from '../team/facts'

/** What a sign-in of this person with the connection would do. It only reads. */
export async function wouldDo(rt: Runtime, connection: SsoConnection, identified: Identified): Promise<Would> {
  return connection.audience === 'team' ? ofTeam(rt, connection, identified) : ofCustomers(rt, connection, identified)
}

async function ofTeam(rt: Runtime, connection: SsoConnection, said: Identified): Promise<Would> {
  const { directory, now } = rt
  const identified = withUsableEmail(said)
  const email = identified.email?.toLowerCase() ?? null
  // This browser has proved nothing: whoever has the link of a test run can open it.
  const entry = entrantOf(directory, {
    connection,
    identified,
    proved: null,
    marks: await marksOf(rt, { connection, identified }),
    now,
  })
  const { facts, person } = await batch(directory, {
    facts: selectFacts(directory, entry),
    person: findPerson(directory, connection, identified, email),
  })
  const [user] = person
  const who = user?.email ?? email ?? identified.subject
  // A draft is tested before it is active.
  const admitted = admit(connection.settings, identified, { ...(facts[0] as AdmissionFacts), active: true })
  if ('reason' in admitted) return refused(admitted.message, who)
  const { role } = admitted
  if (role) {
    return accepted(connection, `${who} would be signed in, and become a member of the project with the role ${role}.`)
  }
  const standing = user?.role ? `They are already a member: ${user.role}.` : 'They could then accept their invitation.'
  return accepted(connection, `${who} would be signed in. ${standing}`)
}

async function ofCustomers(rt: Runtime, connection: SsoConnection, identified: Identified): Promise<Would> {
  const { directory } = rt
  const { project_id, id: connection_id, settings } = connection
  const { issuer, subject } = identified
  const address = verifiedAddressOf(identified)
  const found = await batch(directory, {
    identity: findIdentity(directory, { connection_id, issuer, subject }),
    vouched: vouchesFor(directory, connection, address?.hostname ?? ''),
  })
  const [identity] = found.identity
  const { db } = storeOf(rt, project_id)
  if (identity) {
    const [consumer] = await run(db, findSurvivor(db, project_id, identity.consumer_id ?? ''))
    const refusal = consumer && consumerRefusal(consumer)
    if (refusal) return refused(REFUSALS[refusal])
    return accepted(connection, `The consumer ${consumer?.id ?? identity.consumer_id} would be signed in, as before.`)
  }
  const owned = found.vouched.length > 0
  const doubt = doubtAbout(identified, owned)?.message
  const email = address && owned ? address.email : null
  const same = email === null ? [] : await run(db, findByAddress(db, project_id, email))
  const chosen = choose(same, settings.create_consumers)
  if ('refused' in chosen) return refused([doubt, REFUSALS[chosen.refused]].filter(Boolean).join(' '))
  if (chosen.id)
    return accepted(connection, `The consumer ${chosen.id} would be signed in. It has the address ${email}.`)
  const without = email === null ? ` It would have no email address. ${doubt ?? ''}`.trimEnd() : ''
  return accepted(connection, `A new consumer would be created and signed in.${without}`)
}

function refused(why: string, who?: string): Would {
  return { would: `A real sign-in${who ? ` of ${who}` : ''} would be refused. ${why}`, refused: true }
}

function accepted({ state }: SsoConnection, what: string): Would {
  return { would: state === 'active' ? what : `${what} The connection must be activated first.` }
}

function storeOf(rt: Runtime, projectId: string): Runtime {
  const store = storeOfProject(projectId) ?? 0
  const inside = rt.at(store)
  if (!inside) throw notBound(store)
  return inside
}

/**
 * Reads whom a sign-in for the team would be: the user of the identity, or the one with the address, with their role in the
 * project.
 *
 * @param email in lower case
 */
function findPerson(
  directory: Directory,
  { project_id, id }: Pick<SsoConnection, 'project_id' | 'id'>,
  { issuer, subject }: Pick<Identified, 'issuer' | 'subject'>,
  email: string | null,
) {
  const { connection_id, issuer: by, subject: who, user_id } = ssoIdentities
  const isKnown = and(eq(connection_id, id), eq(by, issuer), eq(who, subject))
  const known = directory.select({ user_id }).from(ssoIdentities).where(isKnown)
  const isPerson = sql`${users.id} = coalesce((${known}), (SELECT ${users.id} FROM ${users} WHERE ${users.email} = ${email}))`
  return directory
    .select({ email: users.email, role: members.role })
    .from(users)
    .leftJoin(members, and(eq(members.user_id, users.id), eq(members.project_id, project_id)))
    .where(isPerson)
}

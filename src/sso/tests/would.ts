import { findSurvivor } from '../../consumers/store'
import { batch, run } from '../../db/client'
import { notBound, type Runtime } from '../../env'
import { storeOfProject } from '../../lib/ids'
import type { SsoConnection } from '../connections/store'
import { findByAddress } from '../customers/consumers-store'
import { findIdentity } from '../customers/identities-store'
import { choose, REFUSALS, refusalOf } from '../customers/resolve'
import { domainOf } from '../email-domain'
import type { Identified } from '../oidc/client'
import { findPerson } from './would-store'

/** What a sign-in of this person with the connection would do, as a sentence. It only reads. */
export async function wouldDo(rt: Runtime, connection: SsoConnection, identified: Identified): Promise<string> {
  return connection.audience === 'team' ? ofTeam(rt, connection, identified) : ofCustomers(rt, connection, identified)
}

async function ofTeam({ directory }: Runtime, connection: SsoConnection, identified: Identified): Promise<string> {
  const email = identified.email?.toLowerCase() ?? null
  const { known, person } = await batch(directory, findPerson(directory, connection, identified, email))
  const [identity] = known
  const [user] = person
  const doubt = doubtAbout(connection, identified)
  if (!identity && doubt) return refused(doubt)
  const who = user?.email ?? email ?? identified.subject
  if (user?.role === 'owner' && !identity) {
    return `${who} would be signed in if they have just signed in with a code or a passkey in the same browser. They are an owner.`
  }
  if (user?.role) return `${who} would be signed in. They are a member already: ${user.role}.`
  const { default_role } = connection.settings
  if (default_role) return `${who} would become a member of the project, and be signed in: ${default_role}.`
  return refused(`${who} is not a member of the project, and the connection adds nobody. Invite them first.`)
}

async function ofCustomers(rt: Runtime, connection: SsoConnection, identified: Identified): Promise<string> {
  const { project_id, id: connection_id, settings } = connection
  const { issuer, subject, email } = identified
  const [identity] = await run(rt.directory, findIdentity(rt.directory, { connection_id, issuer, subject }))
  const { db } = storeOf(rt, project_id)
  if (identity) {
    const [consumer] = await run(db, findSurvivor(db, project_id, identity.consumer_id ?? ''))
    const refusal = consumer && refusalOf(consumer)
    if (refusal) return refused(REFUSALS[refusal])
    return `The consumer ${consumer?.id ?? identity.consumer_id} would be signed in, as before.`
  }
  const doubt = doubtAbout(connection, identified)
  const same = doubt || email === null ? [] : await run(db, findByAddress(db, project_id, email.toLowerCase()))
  const chosen = choose(same, settings.create_consumers)
  if ('refused' in chosen) return refused([doubt, REFUSALS[chosen.refused]].filter(Boolean).join(' '))
  if (chosen.id) return `The consumer ${chosen.id} would be signed in. It has the address ${email}.`
  return `A new consumer would be created and signed in.${doubt ? ` It would have no email address. ${doubt}` : ''}`
}

/** Why the address of somebody new says nothing about who they are; null if it does. */
function doubtAbout({ domains }: SsoConnection, { email, email_verified }: Identified): string | null {
  if (email === null) return 'The provider gives no email address.'
  if (!email_verified) return `The provider does not say that ${email} is verified.`
  const hostname = domainOf(email) ?? email
  const domain = domains.find((one) => one.hostname === hostname)
  if (!domain) return `${hostname} is not a domain of this connection.`
  return domain.verified ? null : `The domain ${hostname} is not verified.`
}

const refused = (why: string) => `A real sign-in would be refused. ${why}`

function storeOf(rt: Runtime, projectId: string): Runtime {
  const store = storeOfProject(projectId) ?? 0
  const inside = rt.at(store)
  if (!inside) throw notBound(store)
  return inside
}

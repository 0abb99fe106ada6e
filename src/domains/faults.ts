import type { Actor } from '../http/actor'
import { requireScopes } from '../http/policy'
import { missingScopes } from '../lib/access'
import { Fault } from '../lib/fault'
import type { Domain } from './store'

/** A caller needs this scope in addition, because single sign-on trusts what the domain proves. */
const FOR_SSO = ['sso:write'] as const

/** Whether the caller may change domains for single sign-on. */
export function mayChangeSso(actor: Actor): boolean {
  return missingScopes(FOR_SSO, actor.scopes).length === 0
}

/** @throws {Fault} 403 if the caller may not change domains of this purpose */
export function requirePurpose(actor: Actor, { purpose }: Pick<Domain, 'purpose'>): void {
  if (purpose === 'sso') requireScopes(actor, FOR_SSO)
}

/** For a name that another project holds, whose record is still there. */
export function hostnameInUse(hostname: string): Fault {
  return new Fault(
    'hostname_in_use',
    `Your record was found, but another project serves ${hostname}, and its record is still there. Remove the other project’s record, and check again.`,
  )
}

import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import type { Role } from '../lib/access'
import { addressesOf, membersOf, type Person } from './store'

/** Addresses of users by their ids. */
export type People = ReadonlyMap<string, string>
/** Members of a project by the ids of their users. */
export type Roles = ReadonlyMap<string, { email: string; role: Role }>

/** @param rows null if the directory did not answer; the result is then null too */
export function rolesIn(rows: readonly (Person & { role: Role })[] | null): Roles | null {
  return rows && new Map(rows.map(({ user_id, email, role }) => [user_id, { email, role }]))
}

/** The members of a project with their roles; null if the directory does not answer. */
export async function readRoles({ directory }: Runtime, projectId: string): Promise<Roles | null> {
  return rolesIn(await ifAnswered(directory, membersOf(directory, projectId)))
}

function peopleIn(rows: readonly Person[] | null): People | null {
  return rows && new Map(rows.map(({ user_id, email }) => [user_id, email]))
}

/** The addresses of the members of a project; null if the directory does not answer. */
export async function readMembers({ directory }: Runtime, projectId: string): Promise<People | null> {
  return peopleIn(await ifAnswered(directory, membersOf(directory, projectId)))
}

/**
 * The addresses of users, whether or not they are members. It has none if the directory does not answer, and none for
 * ids of other things.
 */
export async function readAddresses({ directory }: Runtime, ids: readonly string[]): Promise<People> {
  const users = [...new Set(ids.filter((id) => id.startsWith('usr_')))]
  if (users.length === 0) return new Map()
  return peopleIn(await ifAnswered(directory, addressesOf(directory, users))) ?? new Map()
}

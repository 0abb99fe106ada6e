import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'
import { ROLES } from '../lib/access'
import type { Settings } from './settings'

/**
 * Projects. A store has the projects that were created in it. The directory has all projects: its own, and a copy of the
 * row of every other one. The row says which store the project is in.
 *
 * The marks of a deleted project are set in its store first. The directory has a copy of them.
 */
export const projects = sqliteTable(
  'projects',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    created_by: text().notNull(),
    created_at: integer().notNull(),
    /** The number of the store that the project is in. */
    store: integer().notNull().default(0),
    /** When an owner deleted the project (ms); null if it is not deleted. */
    deleted_at: integer(),
    /** Until when an owner can restore it (ms). Then its rows are deleted. Null if it is not deleted. */
    purge_at: integer(),
    /** Since when its rows in this database are being deleted (ms). From then on, nothing restores it. */
    purging_since: integer(),
    /** The settings that were ever set. settings.ts says which database decides. */
    settings: text({ mode: 'json' }).$type<Partial<Settings>>().notNull().default({}),
    /**
     * The single sign-on connection that its team must use; null if there is none. Only the directory's row has it. Triggers
     * keep a member with `break_glass` meanwhile: they refuse other changes with `break_glass_missing`.
     */
    sso_enforced_by: text(),
  },
  (t) => [
    index('projects_store').on(t.store, t.id),
    // Asking whether a project is deleted reads no row if it is not.
    index('projects_deleted').on(t.id).where(sql`deleted_at IS NOT NULL`),
  ],
)

/** Which emails about a project its owners and admins want: all, those about security, or none. */
export const MAIL_CHOICES = ['all', 'security', 'none'] as const

/**
 * Who may work in a project. Two triggers in a migration protect the last owner of a project: they refuse an UPDATE
 * or DELETE with `last_owner`. Others keep a member with `break_glass` while the project enforces single sign-on: they refuse
 * with `break_glass_missing`.
 */
export const members = sqliteTable(
  'members',
  {
    project_id: text().notNull(),
    user_id: text().notNull(),
    role: text({ enum: ROLES }).notNull(),
    created_at: integer().notNull(),
    /** How the user became a member. */
    source: text({ enum: ['creator', 'invitation', 'sso'] })
      .notNull()
      .default('creator'),
    /** The user who sent the invitation; null if an API key sent it, or if there was none. */
    invited_by: text(),
    /** Whether an owner may sign in without the single sign-on that the project enforces. Only owners may have it. */
    break_glass: integer({ mode: 'boolean' }).notNull().default(false),
    /** Which emails about the project the user wants, as an owner or an admin. */
    mail: text({ enum: MAIL_CHOICES }).notNull().default('all'),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.user_id] }),
    index('members_user').on(t.user_id, t.project_id),
    index('members_listed').on(t.project_id, t.created_at, t.user_id),
    check('members_role', sql`${t.role} IN ('owner','admin','developer','viewer')`),
  ],
)

/**
 * Users who were members of a project and have left or were removed. Single sign-on does not make them members again: an
 * invitation does. Of a user who was erased, keyed hashes take the place of the id: see `formerMark` in people.ts.
 */
export const formerMembers = sqliteTable(
  'former_members',
  {
    project_id: text().notNull(),
    user_id: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.user_id] }), index('former_members_user').on(t.user_id)],
)

/** The states that are stored. A pending invitation whose time is over is shown as expired. */
export const INVITATION_STATES = ['pending', 'accepted', 'declined', 'revoked'] as const

/** Offers of a role to an email address. They contain no secret: whoever signs in with the address can accept. */
export const invitations = sqliteTable(
  'invitations',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    /** In lower case. */
    email: text().notNull(),
    role: text({ enum: ROLES }).notNull(),
    state: text({ enum: INVITATION_STATES }).notNull(),
    invited_by_type: text({ enum: ['user', 'api_key'] }).notNull(),
    invited_by_id: text().notNull(),
    /** The user with whose authority it was last sent: the one who sent it, or who was handed the secret of the API key that sent it. */
    authorized_by: text().notNull(),
    created_at: integer().notNull(),
    /** How long it is open after it was sent (days). */
    open_days: integer().notNull(),
    expires_at: integer().notNull(),
    /** When the last email was sent; null if none has been sent. */
    sent_at: integer(),
    /** Why the last email was not sent; null if it was, or is on its way. */
    send_error: text(),
    /** How many emails the service has tried to send. */
    sends: integer().notNull(),
    /** When the service tried to send emails in the last day (ms), oldest first. */
    recent_sends: text({ mode: 'json' }).$type<number[]>().notNull(),
    /** The user or API key that accepted, declined or revoked it. */
    closed_by: text(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    uniqueIndex('invitations_pending').on(t.project_id, t.email).where(sql`state = 'pending'`),
    index('invitations_email').on(t.email, t.created_at),
    index('invitations_expiry').on(t.project_id, t.expires_at),
    check('invitations_role', sql`${t.role} IN ('owner','admin','developer','viewer')`),
    check('invitations_state', sql`${t.state} IN ('pending','accepted','declined','revoked')`),
  ],
)

/** What a purged project leaves here, beside its own row. */
export const TENANCY_PARTS: Parts = {
  invitations: partOf(invitations, [invitations.project_id, invitations.id], CHUNK_ROWS),
  members: partOf(members, [members.project_id, members.user_id], CHUNK_ROWS),
  former_members: partOf(formerMembers, [formerMembers.project_id, formerMembers.user_id], CHUNK_ROWS),
}

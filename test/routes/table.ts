import type { PagePolicy } from '../../src/http/meta'
import type { Role } from '../../src/lib/access'
import { API_KEYS } from './api-keys'
import { BILLING } from './billing'
import { CATALOG } from './catalog'
import { CONNECTION_ROWS } from './connections'
import { CONSUMER_ROWS, CUSTOMER_ROWS } from './consumers'
import { DEVICES } from './devices'
import { DOMAINS } from './domains'
import { ENDPOINT_ROWS } from './endpoints'
import { ENTITLEMENTS } from './entitlements'
import { INBOX } from './inbox'
import { MEMBER_ROWS } from './members'
import { PASSKEYS } from './passkeys'
import { PROJECT_ROWS } from './projects'
import type { Audit, Faults, Page, Row, Rows } from './row'
import { OTHER_PAGES, SERVICE } from './service'
import { SESSIONS } from './sessions'
import { SSO } from './sso'

/** What is stated of every route of the API, by its method and path. A new route adds one row to the file of its room. */
export const ROWS: Rows = {
  ...API_KEYS,
  ...PROJECT_ROWS,
  ...MEMBER_ROWS,
  ...SSO,
  ...DOMAINS,
  ...CATALOG,
  ...ENTITLEMENTS,
  ...CONSUMER_ROWS,
  ...CUSTOMER_ROWS,
  ...DEVICES,
  ...CONNECTION_ROWS,
  ...ENDPOINT_ROWS,
  ...INBOX,
  ...BILLING,
  ...SESSIONS,
  ...PASSKEYS,
  ...SERVICE,
}

/** What is stated of a page or a form of the console. */
export type StatedPage = Omit<Page, 'policy' | 'role'> & {
  policy: PagePolicy
  role: Role
  /** What a form leaves in the audit log: nothing, if null; undefined, if nobody has said so. */
  audit: Audit | null | undefined
  /** Whether the session must be confirmed. */
  confirmed: boolean
}

/** What is stated of every page and form of the console, by its method and path. */
export const PAGE_ROWS: Record<string, StatedPage> = {
  ...Object.fromEntries(
    Object.entries(OTHER_PAGES).map(([name, policy]) => [name, statedPage({ who: 'public' }, { policy })]),
  ),
  ...Object.fromEntries(
    Object.values(ROWS).flatMap((row) =>
      Object.entries(row.console ?? {}).map(([name, page]) => [name, statedPage(row, page)]),
    ),
  ),
}

/** For each fault that some route alone has, a request that is refused with it. */
export const FAULTS_OF_ROUTES: Faults = Object.assign({}, ...Object.values(ROWS).map(({ faults }) => faults))

function statedPage({ who, audit }: Pick<Row, 'who' | 'audit'>, page: Page): StatedPage {
  const needed = who === 'public' ? { scope: 'anyone' as const, session: null } : who
  const { action = audit?.action, object = audit?.object, first = audit?.first } = page
  return {
    ...page,
    policy: page.policy ?? needed.scope ?? 'user',
    role: page.role ?? (needed.session || 'viewer'),
    confirmed: who !== 'public' && who.confirmed === true,
    audit: action && object ? { action, object, ...(first && { first }) } : audit,
  }
}

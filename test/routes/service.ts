import type { PagePolicy } from '../../src/http/meta'
import { call, failingD1 } from '../harness'
import type { Rows } from './row'

export const SERVICE: Rows = {
  'GET /healthz': {
    who: 'public',
    faults: {
      public_origin_missing: () => call('/healthz', { bindings: { PUBLIC_ORIGIN: '' } }),
      not_migrated: () =>
        call('/healthz', { bindings: { DB: failingD1('D1_ERROR: no such table: users: SQLITE_ERROR') } }),
    },
  },
  'POST /exposures': { who: 'public', json: { secret: 'sample' }, status: 202 },
  'POST /exposures/github': {
    who: 'public',
    status: 401, // its sample has no signature
    faults: {
      vendor_failed: async () => {
        const headers = { 'Github-Public-Key-Identifier': 'any', 'Github-Public-Key-Signature': 'MAYCAQECAQE=' }
        // It is one of our own hosts here, which we do not ask.
        return call('/exposures/github', {
          method: 'POST',
          body: '[]',
          headers,
          bindings: { OTHER_HOSTS: 'api.github.com' },
        })
      },
    },
  },
  'GET /metrics': { who: 'public', status: 404 }, // without its own token
}

/** Pages that no call of the API stands for. */
export const OTHER_PAGES: Record<string, PagePolicy> = {
  'GET /errors': 'anyone',
  'GET /auth/sign-in': 'anyone',
  'POST /auth/sign-in': 'anyone',
  'GET /auth/sso/start': 'anyone',
  'GET /sso/login/:login_id': 'anyone',
  'GET /sso/callback/:connection_id': 'anyone',
  'GET /console/reference': 'user',
  'GET /console/projects': 'user',
  'POST /console/theme': 'user',
  'POST /console/times': 'user',
  'POST /console/columns': 'user',
  'POST /console/mode': 'user',
  'GET /console/p': 'user',
  'GET /console/p/:project/platform/billing': 'billing:read',
  // test/members asks what leaving writes.
  'GET /console/p/:project/platform/settings/members/leave': 'members:read',
  'POST /console/p/:project/platform/settings/members/leave': 'members:read',
}

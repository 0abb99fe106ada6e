import { Hono } from 'hono'
import { findKeyEver, listKeys, usersOf } from '../../../api-keys/key'
import { mintOnce } from '../../../api-keys/mint'
import { noticeKey } from '../../../api-keys/tell'
import { changeKey } from '../../../api-keys/update'
import { auditPaging, listAudit } from '../../../audit-log/read'
import { run } from '../../../db/client'
import { clientAddress } from '../../../http/address'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { dormantScopes } from '../../../lib/access'
import { requireFound } from '../../../lib/fault'
import { DAY } from '../../../lib/time'
import { lowestRole, readMembers, readRoles } from '../../../tenancy/people'
import { action, leadTo } from '../../action'
import { idIn, onceOf } from '../../csrf'
import { readList } from '../../list'
import { can, page } from '../../page'
import { userOf } from '../../session'
import { readPeople } from '../audit-log/names'
import { readOverview } from '../overview/read'
import { doneOf, hasEvent } from '../overview/steps'
import { boundsChanged } from './bounds'
import { endPending, endPrevious, revoke } from './ends'
import { expiryOf } from './expiry'
import { CHANGED_KEY, createPage, editPage, NEW_KEY } from './form'
import { addressedKey, keyPage, keyPath, readKey } from './key'
import { isUnused, listPage, UNUSED_DAYS } from './list'
import { scopesIn } from './presets'
import { rotate } from './rotate'
import { secretPage } from './secret'
import { revokeChosen } from './several'
import { readUse } from './use'

/** Keys on a page of the list. With the longest names, a row takes nearly 2 kB. */
const LISTED = 30
/** How many entries of the audit log the page of a key shows. */
const HISTORY = 20

/** The form mints one key, however often it is sent. */
const create = action({
  at: '/new',
  posts: '/',
  needs: 'api_keys:write',
  read: (c) => onceOf(c.get('rt'), userOf(c)),
  ask: createPage,
  run: async (c) => {
    const rt = c.get('rt')
    const form = c.get('form')
    const id = await idIn(rt, userOf(c), form.get('once'))
    // Read before the key is created: an error afterwards would lose the secret.
    const done = doneOf(await readOverview(c))
    const settingUp = !(hasEvent(done) && done.use)
    const scopes = scopesIn(form, userOf(c).scopes)
    const fields = NEW_KEY.body(form, { scopes, expires_at: expiryOf(form, rt.now) })
    const minted = await mintOnce(rt, userOf(c), { ...fields, id }, changeOf(c))
    if (!minted) return leadTo(c, keyPath(c, id), 'key_created_before')
    noticeKey(c, minted.row)
    return secretPage(c, minted.row, minted.secret, { what: 'created', settingUp })
  },
  done: (_, response) => response,
})

const edit = action({
  at: '/:id/edit',
  needs: 'api_keys:write',
  read: readKey,
  ask: editPage,
  run: async (c) => {
    const rt = c.get('rt')
    const form = c.get('form')
    const row = await readKey(c)
    const changes = boundsChanged(CHANGED_KEY.body(form, { expires_at: expiryOf(form, rt.now) ?? undefined }), row)
    await changeKey(rt, { ...addressedKey(c), actor: userOf(c), address: clientAddress(c) }, changes, changeOf(c))
  },
  done: (c) => [keyPath(c, addressedKey(c).id), 'key_updated'],
})

/** API keys: create, list, look at, edit, rotate, revoke. */
export const apiKeyPages = new Hono<HttpEnv>()
  .get('/', page('api_keys:read'), async (c) => {
    const { db, now } = c.get('rt')
    const project_id = projectOf(c.get('actor'))
    const unusedSince = isUnused(c) ? now - UNUSED_DAYS * DAY : undefined
    const read = (before: string | null, limit: number) =>
      run(db, listKeys(db, { project_id, before, limit, now, unusedSince }))
    const [keys, people] = await Promise.all([
      readList(c, unusedSince ? 'api-keys/unused' : 'api-keys', read, LISTED),
      readMembers(c.get('rt'), projectOf(c.get('actor'))),
    ])
    return listPage(c, keys, people)
  })
  .route('/', create)
  .route('/', revokeChosen)
  .get('/:id', page('api_keys:read'), async (c) => {
    const rt = c.get('rt')
    const { project_id: project, id } = addressedKey(c)
    const list = auditPaging('console/api-keys/history', { object_id: id, limit: HISTORY })
    const log = can(c, 'audit_log:read') ? run(rt.db, listAudit(rt.db, project, list.filters, list.at)) : null
    const [keys, entries, roles, use] = await Promise.all([
      run(rt.db, findKeyEver(rt.db, project, id)),
      log,
      readRoles(rt, project),
      readUse(c, addressedKey(c)),
    ])
    const row = requireFound(keys, 'API key')
    const people = roles && new Map([...roles].map(([user, { email }]) => [user, email]))
    const dormant = roles ? dormantScopes(row.scopes, lowestRole(usersOf(row), roles)) : []
    const history = entries && list.page(entries, await readPeople(rt, people, entries)).data
    return keyPage(c, row, { people, history, dormant, use })
  })
  .route('/', edit)
  .route('/', rotate)
  .route('/', revoke)
  .route('/', endPending)
  .route('/', endPrevious)

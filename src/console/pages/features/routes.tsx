import { Hono } from 'hono'
import { deleteFeature, type Feature, findFeature, listFeatures, putFeature } from '../../../catalog/features'
import { namePlans } from '../../../catalog/plans'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { paging } from '../../../http/page'
import { requireFound } from '../../../lib/fault'
import { action } from '../../action'
import { backTo } from '../../from'
import { pageAsked } from '../../list'
import { page, pathsOf, type Visit } from '../../page'
import { Refused } from '../../refusal'
import { createPage, editPage, FEATURE } from './form'
import { listPage } from './list'

const create = action({
  at: '/new',
  posts: '/',
  needs: 'catalog:write',
  ask: (c, _, sent) => createPage(c, sent),
  run: async (c) => {
    const { key, ...fields } = FEATURE.body(c.get('form'))
    if ((await find(c, key))[0]) throw new Refused({ key: 'Another feature already has this key.' }, 409)
    await putFeature(c.get('rt').db, { project_id: projectOf(c.get('actor')), key }, fields, changeOf(c))
  },
  done: (c) => [backTo(c, pathsOf(c).features), 'feature_created'],
})

const edit = action({
  at: '/:key/edit',
  needs: 'catalog:write',
  read,
  ask: editPage,
  run: async (c) => {
    const { key, type } = await read(c)
    const sent = new URLSearchParams({ ...Object.fromEntries(c.get('form')), key, type })
    const { key: _, ...fields } = FEATURE.body(sent)
    await putFeature(c.get('rt').db, { project_id: projectOf(c.get('actor')), key }, fields, changeOf(c))
  },
  done: (c) => [pathsOf(c).features, 'feature_changed'],
})

const remove = action({
  at: '/:key/delete',
  needs: 'catalog:write',
  read,
  ask: (c, { key, name }) => ({
    title: 'Delete feature',
    section: 'features',
    above: ['Features', pathsOf(c).features],
    question: `Delete “${name}”?`,
    says: (
      <p>
        Calls that ask for <code>{key}</code> get the reason <code>unknown_feature</code> from then on. You cannot
        delete a feature that a plan or a live grant includes.
      </p>
    ),
    verb: 'Delete feature',
    danger: true,
  }),
  run: async (c) => {
    const { key } = await read(c)
    await deleteFeature(c.get('rt').db, { project_id: projectOf(c.get('actor')), key }, changeOf(c))
  },
  done: (c) => [pathsOf(c).features, 'feature_deleted'],
})

/** The features of the catalog: list, create, edit, delete. */
export const featurePages = new Hono<HttpEnv>()
  .get('/', page('catalog:read'), async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const list = paging('console/features', pageAsked(c), ({ key }: { key: string }) => key)
    const { rows, plans } = await batch(db, {
      rows: listFeatures(db, project, list),
      plans: namePlans(db, project),
    })
    const shown = list.page(rows, (row) => row)
    return listPage(c, shown, plans)
  })
  .route('/', create)
  .route('/', edit)
  .route('/', remove)

function find(c: Visit, key: string) {
  const { db } = c.get('rt')
  return run(db, findFeature(db, projectOf(c.get('actor')), key))
}

/** Reads the feature in the path. @throws {Fault} `not_found` */
async function read(c: Visit): Promise<Feature> {
  return requireFound(await find(c, c.req.param('key') ?? ''), 'Feature')
}

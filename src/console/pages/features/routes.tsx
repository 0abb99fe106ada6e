import { Hono } from 'hono'
import { deleteFeature, type Feature, findFeature, listFeatures, putFeature } from '../../../catalog/features'
import { namePlans, type PlanName, plansIncluding } from '../../../catalog/plans'
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
import { Cannot } from '../../ui/cannot'
import { show } from '../../ui/layout'
import { createPage, editPage, FEATURE } from './form'
import { In, listPage } from './list'

const create = action({
  at: '/new',
  posts: '/',
  needs: 'catalog:write',
  ask: (c, _, sent) => createPage(c, sent),
  run: async (c) => {
    const { key, ...fields } = FEATURE.body(c.get('form'))
    if ((await find(c, key))[0]) throw new Refused({ key: `Another feature already has the key ${key}.` }, 409)
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
  read: readWithPlans,
  ask: (c, { key, name, plans }, { status }) => {
    const above = ['Features', pathsOf(c).features] as const
    const view = { title: 'Delete feature', section: 'features', above } as const
    if (plans.length > 0) {
      return show(
        c,
        { ...view, status },
        <Cannot title={`“${name}” cannot be deleted`} back={['Back to the features', above[1]]}>
          <p>
            {plans.length === 1 ? 'This plan includes' : 'These plans include'} it: <In c={c} plans={plans} />. Remove
            it there first.
          </p>
        </Cannot>,
      )
    }
    return {
      ...view,
      question: `Delete “${name}”?`,
      says: (
        <p>
          Calls that ask for <code>{key}</code> get the reason <code>unknown_feature</code> from then on. You cannot
          delete a feature that a live grant includes.
        </p>
      ),
      verb: 'Delete feature',
      danger: true,
    }
  },
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

/** Reads the feature in the path, with the plans that include it. @throws {Fault} `not_found` */
async function readWithPlans(c: Visit): Promise<Feature & { plans: PlanName[] }> {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const key = c.req.param('key') ?? ''
  const { rows, plans } = await batch(db, {
    rows: findFeature(db, project, key),
    plans: plansIncluding(db, project, key),
  })
  return { ...requireFound(rows, 'Feature'), plans }
}

/** Reads the feature in the path. @throws {Fault} `not_found` */
async function read(c: Visit): Promise<Feature> {
  return requireFound(await find(c, c.req.param('key') ?? ''), 'Feature')
}

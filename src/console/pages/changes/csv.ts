import type { Change } from '../../../feed/fields'
import { csv, wrongFilters } from '../../csv'
import { findChanges, readFilter } from './find'
import { madeBy } from './names'

/** The changes as a file. */
export const changeCsv = csv<Change>({
  at: '',
  name: 'changes',
  needs: 'projects:read',
  columns: [
    ['id', ({ id }) => id],
    ['number', ({ number }) => number],
    ['at', ({ at }) => at],
    ['type', ({ type }) => type],
    ['object_type', ({ object }) => object.type],
    ['object_id', ({ object }) => object.id],
    ['vendor', ({ object }) => object.vendor],
    ['revision', ({ revision }) => revision],
    ['customer', ({ customer }) => customer],
    ['consumer_id', ({ consumer_id }) => consumer_id],
    ['fields', ({ fields }) => fields?.join(' ')],
    ['features', ({ features }) => features && JSON.stringify(features)],
    ['cause_type', (change) => madeBy(change)?.type],
    ['cause_id', (change) => madeBy(change)?.id],
  ],
  list: (c) => {
    const asked = readFilter(new URL(c.req.url).searchParams)
    if ('mistakes' in asked) throw wrongFilters(asked.mistakes)
    return (part) => findChanges(c, asked, part)
  },
})

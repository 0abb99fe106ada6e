import type { Consumer } from '../../../consumers/read'
import { iso } from '../../../lib/time'
import { csv } from '../../csv'
import { askedIn, listFound } from './find'

/** The list of consumers as a file. */
export const consumerCsv = csv<Consumer>({
  at: '',
  name: 'consumers',
  needs: 'consumers:read',
  columns: [
    ['id', ({ id }) => id],
    ['external_ids', ({ external_ids }) => external_ids.join(' ')],
    ['email', ({ email }) => email],
    ['name', ({ name }) => name],
    ['state', ({ state }) => state],
    ['created_at', ({ created_at }) => iso(created_at)],
  ],
  list: (c) => {
    const asked = askedIn(c)
    return (part) => listFound(c, asked, part)
  },
})

-- A row of an object has 1,000 to 2,600 bytes. In a table WITHOUT ROWID, a row of more than 1,000 takes a page of 4,096 of its own, and
-- each look-up reads whole rows: docs/contribute/storage.md. So the table is made anew, with a rowid, under its old name. The
-- previous version of the Worker works with it too.
CREATE TABLE `objects_with_rowid` (
	`project_id` text NOT NULL,
	`kind` text NOT NULL,
	`vendor_id` text NOT NULL,
	`vendor` text NOT NULL,
	`customer` text,
	`subscription` text,
	`status` text NOT NULL,
	`ambiguous` integer DEFAULT 0 NOT NULL,
	`incomplete` integer DEFAULT 0 NOT NULL,
	`version` integer NOT NULL,
	`candidates` text NOT NULL,
	`past_due_period` text,
	`past_due_since` text,
	`updated` text GENERATED ALWAYS AS (CASE WHEN kind IN ('subscription', 'invoice', 'payment_method')
  OR (kind = 'purchase' AND candidates ->> '$[0].body.status' IS NOT NULL)
  THEN coalesce(rtrim(candidates ->> '$[0].body.updated_at', 'Z'), '') END) VIRTUAL
);--> statement-breakpoint
INSERT INTO `objects_with_rowid` (`project_id`, `kind`, `vendor_id`, `vendor`, `customer`, `subscription`, `status`, `ambiguous`,
  `incomplete`, `version`, `candidates`, `past_due_period`, `past_due_since`)
SELECT `project_id`, `kind`, `vendor_id`, `vendor`, `customer`, `subscription`, `status`, `ambiguous`,
  `incomplete`, `version`, `candidates`, `past_due_period`, `past_due_since`
FROM `billing_objects`;--> statement-breakpoint
DROP TABLE `billing_objects`;--> statement-breakpoint
ALTER TABLE `objects_with_rowid` RENAME TO `billing_objects`;--> statement-breakpoint
CREATE UNIQUE INDEX `billing_key` ON `billing_objects` (`project_id`,`kind`,`vendor_id`,`vendor`);--> statement-breakpoint
CREATE INDEX `billing_ambiguous` ON `billing_objects` (`project_id`,`kind`) WHERE ambiguous = 1;--> statement-breakpoint
CREATE INDEX `billing_incomplete` ON `billing_objects` (`project_id`,`kind`) WHERE incomplete = 1;--> statement-breakpoint
CREATE INDEX `billing_customer` ON `billing_objects` (`project_id`,`kind`,`customer`,`vendor`,`vendor_id`) WHERE customer IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_unknown` ON `billing_objects` (`project_id`,`kind`) WHERE kind = 'subscription' AND status = 'unknown';--> statement-breakpoint
CREATE INDEX `billing_changed` ON `billing_objects` (`project_id`,`kind`,`updated`,`vendor_id`,`vendor`) WHERE updated IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_items_missing` ON `billing_objects` (`project_id`,`kind`) WHERE kind = 'purchase' AND candidates ->> '$[0].body.items_missing' = 1;--> statement-breakpoint
CREATE INDEX `billing_test` ON `billing_objects` (`project_id`,`kind`,`updated`,`vendor_id`,`vendor`) WHERE updated IS NOT NULL AND candidates ->> '$[0].body.livemode' = 0;--> statement-breakpoint
CREATE INDEX `billing_called` ON `billing_objects` (`project_id`,`kind`,CASE kind WHEN 'customer' THEN lower(candidates ->> '$[0].body.name')
  WHEN 'invoice' THEN lower(candidates ->> '$[0].body.number') WHEN 'purchase' THEN lower(candidates ->> '$[0].body.number') END,`vendor_id`,`vendor`) WHERE CASE kind WHEN 'customer' THEN lower(candidates ->> '$[0].body.name')
  WHEN 'invoice' THEN lower(candidates ->> '$[0].body.number') WHEN 'purchase' THEN lower(candidates ->> '$[0].body.number') END IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_email` ON `billing_objects` (`project_id`,`kind`,CASE kind WHEN 'customer' THEN lower(candidates ->> '$[0].body.email') END,`vendor_id`,`vendor`) WHERE CASE kind WHEN 'customer' THEN lower(candidates ->> '$[0].body.email') END IS NOT NULL;
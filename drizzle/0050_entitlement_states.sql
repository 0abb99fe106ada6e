CREATE TABLE `watchers` (
	`project_id` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`position` integer NOT NULL,
	`epoch` text NOT NULL,
	`version` integer NOT NULL,
	`walk` text NOT NULL,
	`lease_token` text,
	`lease_until` integer DEFAULT 0 NOT NULL,
	`woken_at` integer DEFAULT 0 NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `entitlement_states` (
	`project_id` text NOT NULL,
	`consumer_id` text NOT NULL,
	`features` text NOT NULL,
	`due_at` integer,
	`revision` integer NOT NULL,
	`skipped_at` integer,
	PRIMARY KEY(`project_id`, `consumer_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `entitlement_states_due` ON `entitlement_states` (`project_id`,`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `entitlement_states_skipped` ON `entitlement_states` (`project_id`,`consumer_id`) WHERE skipped_at IS NOT NULL;
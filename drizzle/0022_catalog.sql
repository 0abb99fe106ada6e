CREATE TABLE `features` (
	`project_id` text NOT NULL,
	`key` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`combine` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `key`),
	CONSTRAINT "features_combine" CHECK(("features"."type" = 'quantity') = ("features"."combine" IS NOT NULL))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `plan_refs` (
	`project_id` text NOT NULL,
	`vendor` text NOT NULL,
	`ref` text NOT NULL,
	`plan_id` text NOT NULL,
	PRIMARY KEY(`project_id`, `vendor`, `ref`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `plan_revisions` (
	`project_id` text NOT NULL,
	`plan_id` text NOT NULL,
	`revision` integer NOT NULL,
	`document` text NOT NULL,
	`until` integer NOT NULL,
	PRIMARY KEY(`project_id`, `plan_id`, `revision`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `plans` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`key` text NOT NULL,
	`name` text NOT NULL,
	`rank` integer NOT NULL,
	`state` text NOT NULL,
	`features` text NOT NULL,
	`revision` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `plans_key` ON `plans` (`project_id`,`key`);--> statement-breakpoint
CREATE TABLE `grants` (
	`project_id` text NOT NULL,
	`consumer_id` text NOT NULL,
	`id` text NOT NULL,
	`feature` text,
	`plan_id` text,
	`effect` text NOT NULL,
	`value` text,
	`starts_at` integer,
	`expires_at` integer,
	`reason` text,
	`actor` text NOT NULL,
	`revoked_at` integer,
	`revoked_by` text,
	PRIMARY KEY(`project_id`, `consumer_id`, `id`),
	CONSTRAINT "grants_one" CHECK(("grants"."feature" IS NULL) <> ("grants"."plan_id" IS NULL)),
	CONSTRAINT "grants_deny" CHECK("grants"."effect" = 'allow' OR "grants"."feature" IS NOT NULL)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `grants_id` ON `grants` (`project_id`,`id`);--> statement-breakpoint
ALTER TABLE `billing_objects` ADD `past_due_period` text;--> statement-breakpoint
ALTER TABLE `billing_objects` ADD `past_due_since` text;--> statement-breakpoint
CREATE INDEX `billing_unknown` ON `billing_objects` (`project_id`,`kind`) WHERE kind = 'subscription' AND status = 'unknown';
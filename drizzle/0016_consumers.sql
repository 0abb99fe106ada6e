CREATE TABLE `consumer_ids` (
	`project_id` text NOT NULL,
	`external_id` text NOT NULL,
	`consumer_id` text NOT NULL,
	`position` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `external_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `consumer_ids_consumer` ON `consumer_ids` (`project_id`,`consumer_id`);--> statement-breakpoint
CREATE TABLE `consumers` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`email` text,
	`name` text,
	`metadata` text NOT NULL,
	`state` text NOT NULL,
	`blocked_reason` text,
	`merged_into` text,
	`revision` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `id`),
	CONSTRAINT "consumers_merged_into" CHECK(("consumers"."state" = 'merged') = ("consumers"."merged_into" IS NOT NULL)),
	CONSTRAINT "consumers_erased" CHECK("consumers"."state" <> 'erased' OR ("consumers"."email" IS NULL AND "consumers"."name" IS NULL))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `consumers_email` ON `consumers` (`project_id`,`email`,`id`) WHERE email IS NOT NULL;--> statement-breakpoint
CREATE INDEX `consumers_state` ON `consumers` (`project_id`,`state`,`id`) WHERE state <> 'active';--> statement-breakpoint
CREATE INDEX `consumers_merged` ON `consumers` (`project_id`,`merged_into`,`id`) WHERE merged_into IS NOT NULL;
//go:build unix

package migrate_test

// The models of a shop, with relations that stay in a node: between bound tables,
// to broadcast ones, and many-to-many through a bound join table.

type Region struct {
	ID   int64  `gorm:"primaryKey;autoIncrement:false"`
	Name string `gorm:"size:50;uniqueIndex:uni_region"`
}

func (Region) TableName() string { return "t_region" }

type Order struct {
	ID       int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID   int64 `gorm:"not null;index:idx_user"`
	RegionID *int64
	Region   *Region
	Items    []Item `gorm:"foreignKey:OrderID"`
}

func (Order) TableName() string { return "t_order" }

type Item struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID  int64 `gorm:"not null"`
	OrderID int64
	Number  int64 `gorm:"check:chk_number_of_the_items_of_an_order_that_has_a_name_of_56_chars,number > 0"`
}

func (Item) TableName() string { return "t_order_item" }

type Tag struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false"`
}

func (Tag) TableName() string { return "t_tag" }

type Member struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64 `gorm:"not null"`
	Tags   []Tag `gorm:"many2many:t_member_tag;"`
}

func (Member) TableName() string { return "t_member" }

// MemberTag is the join table, which needs the sharding column.
type MemberTag struct {
	MemberID int64 `gorm:"primaryKey;autoIncrement:false"`
	TagID    int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID   int64 `gorm:"not null"`
}

func (MemberTag) TableName() string { return "t_member_tag" }

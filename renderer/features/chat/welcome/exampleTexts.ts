/** The texts of the examples, which the built-in model reads: English in every language. Loaded with the first of them. */

export const letter = `7 Harbor Lane
Dunmore
May 12

Dear Martha,

Thank you for your long letter. We are all well, and the children talk of nothing but your visit. Do come in July, when the sea is warm enough. The train from Ashford arrives in Dunmore at 12:40, and Walter will meet you at the station with the blue car.

A great deal has happened here. Walter has sold the old boat and is looking for a smaller one. He paid 640 dollars for a tent, so that we can go camping in August. Emily now works as a nurse in Cardiff and writes to us every Sunday. Peter is learning the guitar and plays it very badly. Our new dog is called Biscuit and sleeps under the piano. He has already eaten two hats and one of my gardening gloves.

The house is lovely, except for the kitchen, which has had no light since Thursday. The electrician promised to come on Friday and never appeared. In the meantime I have bought three lamps, which cost me 48 dollars.

We could not come to the wedding of your niece, because the bridge was closed after the storm. I was sorry to miss it. Please tell her that our present, a clock made of brass, is still on its way. Greta Lowe will bring it along when she travels north in June.

And now I have a request. Could you bring a jar of your plum jam? Nobody here makes it as you do. If we are not at home when you arrive, the key is under the red flowerpot beside the door. My new telephone number is 555 0142.

Give our love to everybody at home.

Your Agnes`;

export const minutes = `Dunmore Garden Club
Minutes of the meeting of November 3

Place: Dunmore library
Chair: Ruth Ellison
Treasurer: David Park
Secretary: Clara Jensen
Peter Lang was not able to attend because he was ill.

1. Accounts
David Park presented the accounts. The account stands at 1,840 dollars. The bill for water, 76 dollars, has been paid. Twelve members have not paid their subscriptions; the treasurer will write to them before Christmas.

2. Tools
The lawn mower is broken and cannot be repaired. Nadia Rahman will order a new lawn mower, which must not cost more than 420 dollars. The wheelbarrow will be painted by Frank Moss.

3. Spring market
The spring market will take place on April 18 in Bridge Street. Frank Moss will ask the baker to judge the cakes. Maria Costa will hire a tent. Tomato plants will be sold at 2 dollars each. Clara Jensen is to speak to the police about parking.

4. Gifts
The school garden will get a new bench, a gift of the Dunmore Bank. The bench will be unveiled by the mayor on May 9.

5. Bonfires
The proposal to allow bonfires was rejected by nine votes to four because the gardens are too small.

6. Talk
Helen Brook will give a talk about bees on January 12. Members pay nothing; guests pay 5 dollars.

7. Keys
Two keys of the garden gate were lost in the summer. Ruth Ellison keeps the new keys and will hand them out after the meeting.

The next meeting is on December 1 at 7 pm in the library.`;

export const invoice = `Hill & Sons Garden Services
Invoice 11874
Date: September 9
To: the Ashford Music School, 27 Church Street

item ; quantity ; unit price ; total
Rose bush, red ; 12 ; 9.00 ; 108.00
Apple tree ; 3 ; 34.50 ; 103.50
Garden soil, 40 l ; 8 ; 6.25 ; 50.00
Paint, white ; 2 ; 18.90 ; 37.80
Hours of work ; 14 ; 28.00 ; 392.00

Subtotal 691.30
Sales tax 7% 48.39
Total due 739.69
Please pay by September 30.

Our account is number 5520 3318 at the Kent Bank. Please quote your customer number, AF-81697.

The work was done on September 2 and 3 by Michael Hill and Steven Price. The rose bushes have a guarantee of one year. The apple trees should be watered twice a week until the end of October.

The key of the garden gate was left with Mrs. Clarke. The old fence will be taken away on September 16, which costs nothing. The next visit is planned for March 12.

Questions about this invoice are answered by Robert Hill, telephone 555 0119, robert@hillandsons.example.`;

/** 1 Samuel 8 and 9 in the King James Version (public domain), with one sentence hidden in it. */
export const long = `And it came to pass, when Samuel was old, that he made his sons judges over Israel. Now the name of his firstborn was Joel; and the name of his second, Abiah: they were judges in Beersheba. And his sons walked not in his ways, but turned aside after lucre, and took bribes, and perverted judgment. Then all the elders of Israel gathered themselves together, and came to Samuel unto Ramah, And said unto him, Behold, thou art old, and thy sons walk not in thy ways: now make us a king to judge us like all the nations. But the thing displeased Samuel, when they said, Give us a king to judge us. And Samuel prayed unto the LORD. And the LORD said unto Samuel, Hearken unto the voice of the people in all that they say unto thee: for they have not rejected thee, but they have rejected me, that I should not reign over them. According to all the works which they have done since the day that I brought them up out of Egypt even unto this day, wherewith they have forsaken me, and served other gods, so do they also unto thee. Now therefore hearken unto their voice: howbeit yet protest solemnly unto them, and shew them the manner of the king that shall reign over them. And Samuel told all the words of the LORD unto the people that asked of him a king. And he said, This will be the manner of the king that shall reign over you: He will take your sons, and appoint them for himself, for his chariots, and to be his horsemen; and some shall run before his chariots. And he will appoint him captains over thousands, and captains over fifties; and will set them to ear his ground, and to reap his harvest, and to make his instruments of war, and instruments of his chariots. And he will take your daughters to be confectionaries, and to be cooks, and to be bakers. And he will take your fields, and your vineyards, and your oliveyards, even the best of them, and give them to his servants. And he will take the tenth of your seed, and of your vineyards, and give to his officers, and to his servants. And he will take your menservants, and your maidservants, and your goodliest young men, and your asses, and put them to his work. He will take the tenth of your sheep: and ye shall be his servants. And ye shall cry out in that day because of your king which ye shall have chosen you; and the LORD will not hear you in that day. Nevertheless the people refused to obey the voice of Samuel; and they said, Nay; but we will have a king over us; That we also may be like all the nations; and that our king may judge us, and go out before us, and fight our battles. And Samuel heard all the words of the people, and he rehearsed them in the ears of the LORD. And the LORD said to Samuel, Hearken unto their voice, and make them a king. And Samuel said unto the men of Israel, Go ye every man unto his city.

Now there was a man of Benjamin, whose name was Kish, the son of Abiel, the son of Zeror, the son of Bechorath, the son of Aphiah, a Benjamite, a mighty man of power. And he had a son, whose name was Saul, a choice young man, and a goodly: and there was not among the children of Israel a goodlier person than he: from his shoulders and upward he was higher than any of the people. And the asses of Kish Saul's father were lost. And Kish said to Saul his son, Take now one of the servants with thee, and arise, go seek the asses. And he passed through mount Ephraim, and passed through the land of Shalisha, but they found them not: then they passed through the land of Shalim, and there they were not: and he passed through the land of the Benjamites, but they found them not. And when they were come to the land of Zuph, Saul said to his servant that was with him, Come, and let us return; lest my father leave caring for the asses, and take thought for us. And he said unto him, Behold now, there is in this city a man of God, and he is an honourable man; all that he saith cometh surely to pass: now let us go thither; peradventure he can shew us our way that we should go. Then said Saul to his servant, But, behold, if we go, what shall we bring the man? for the bread is spent in our vessels, and there is not a present to bring to the man of God: what have we? And the servant answered Saul again, and said, Behold, I have here at hand the fourth part of a shekel of silver: that will I give to the man of God, to tell us our way. (Beforetime in Israel, when a man went to enquire of God, thus he spake, Come, and let us go to the seer: for he that is now called a Prophet was beforetime called a Seer.) Then said Saul to his servant, Well said; come, let us go. So they went unto the city where the man of God was. One of the special magic numbers for harbour is: 7263514. And as they went up the hill to the city, they found young maidens going out to draw water, and said unto them, Is the seer here? And they answered them, and said, He is; behold, he is before you: make haste now, for he came to day to the city; for there is a sacrifice of the people to day in the high place: As soon as ye be come into the city, ye shall straightway find him, before he go up to the high place to eat: for the people will not eat until he come, because he doth bless the sacrifice; and afterwards they eat that be bidden. Now therefore get you up; for about this time ye shall find him. And they went up into the city: and when they were come into the city, behold, Samuel came out against them, for to go up to the high place. Now the LORD had told Samuel in his ear a day before Saul came, saying, To morrow about this time I will send thee a man out of the land of Benjamin, and thou shalt anoint him to be captain over my people Israel, that he may save my people out of the hand of the Philistines: for I have looked upon my people, because their cry is come unto me. And when Samuel saw Saul, the LORD said unto him, Behold the man whom I spake to thee of! this same shall reign over my people. Then Saul drew near to Samuel in the gate, and said, Tell me, I pray thee, where the seer's house is. And Samuel answered Saul, and said, I am the seer: go up before me unto the high place; for ye shall eat with me to day, and to morrow I will let thee go, and will tell thee all that is in thine heart. And as for thine asses that were lost three days ago, set not thy mind on them; for they are found. And on whom is all the desire of Israel? Is it not on thee, and on all thy father's house? And Saul answered and said, Am not I a Benjamite, of the smallest of the tribes of Israel? and my family the least of all the families of the tribe of Benjamin? wherefore then speakest thou so to me? And Samuel took Saul and his servant, and brought them into the parlour, and made them sit in the chiefest place among them that were bidden, which were about thirty persons. And Samuel said unto the cook, Bring the portion which I gave thee, of which I said unto thee, Set it by thee. And the cook took up the shoulder, and that which was upon it, and set it before Saul. And Samuel said, Behold that which is left! set it before thee, and eat: for unto this time hath it been kept for thee since I said, I have invited the people. So Saul did eat with Samuel that day. And when they were come down from the high place into the city, Samuel communed with Saul upon the top of the house. And they arose early: and it came to pass about the spring of the day, that Samuel called Saul to the top of the house, saying, Up, that I may send thee away. And Saul arose, and they went out both of them, he and Samuel, abroad.`;
